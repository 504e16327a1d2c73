it('passes before it', () => {})
it('exits', () => process.exit(0))
