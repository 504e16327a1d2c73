it('is killed', async () => {
  process.kill(process.pid, 'SIGKILL')
  await new Promise(() => {})
})
