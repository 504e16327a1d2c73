const { Spec } = require('mocha').reporters

/**
 * Mocha's spec reporter, also for workers: what they send is plain, one that ends in the middle of a file is told with the file, and a run that does not
 * come to its end has failed.
 */
module.exports = class extends Spec {
  constructor(runner, options) {
    super(runner, options)
    if (runner.isParallelMode()) runner.workerReporter(require.resolve('./worker-reporter.cjs'))
    let isOver = false
    runner.once('end', () => {
      isOver = true
    })
    // Whoever has no more time for it may read what has failed by then.
    process.once('SIGTERM', () => process.exit(143))
    process.on('exit', () => {
      if (isOver) return
      runner.emit('end')
      process.stderr.write('the run did not come to its end\n')
      process.exitCode ||= 1
    })
    runner.on('fail', (runnable, { file }) => {
      if (file !== undefined) runnable.title = `${file} did not come to its end`
    })
  }
}
