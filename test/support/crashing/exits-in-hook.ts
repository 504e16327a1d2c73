after(() => process.exit(0))
it('passes before the hook', () => {})
