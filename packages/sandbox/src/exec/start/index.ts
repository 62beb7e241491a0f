/** Starts commands and programs in a sandbox. Large: import it only in code that is loaded with the first of them. */
export { buildSandbox } from '../isolation/build-sandbox.ts'
export { commandEnvironment } from '../isolation/environment.ts'
export { probeSandbox, probeSandboxOnce } from '../probe/probe-sandbox.ts'
export { createProcessGuard } from '../process-guard.ts'
export { isVisibleInSandbox } from '../program/sandboxed-program.ts'
export { launchProgram, startProgram } from '../program/start-program.ts'
