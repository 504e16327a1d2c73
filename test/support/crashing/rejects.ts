it('leaves a rejection to nobody', async () => {
  void Promise.reject(new Error('nobody hears'))
  await new Promise(setImmediate)
})
