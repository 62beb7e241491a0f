/** The last line of a test run, the one CI reads: `N passed, N failed`. */
export default class ClosingLineReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: unhandledErrors.length }
    for (const module of modules) {
      if (module.state() === 'failed' && [...module.children.allTests()].length === 0) counts.failed++
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed' || state === 'failed') counts[state]++
      }
    }
    process.on('exit', () => {
      // Not a test but the run has failed: something is left in the temporary folder, for example.
      if (counts.failed === 0 && process.exitCode) counts.failed = 1
      console.log(`${counts.passed} passed, ${counts.failed} failed`)
    })
  }
}
