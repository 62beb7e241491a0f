/**
 * What the rest of the hub needs before anything runs. `start/index.ts`, which is large, starts commands and programs; it
 * is imported by code that is itself loaded with the first of them.
 */
import { lazyModule } from '@tool-hub/core'

export type { CommandNetwork } from '../network/proxy/connect-to-host.ts'
export { privateFolder } from '../system/index.ts'
export { PROXY_PORT } from './bridge/bridge.ts'
export type { CommandCall, CommandReach, OutputFile } from './command-call.ts'
export type { ProcessLimits } from './host/host.ts'
export { canEnter, NOBODY_USER, runAs, type SandboxLaunch, sandboxUser } from './isolation/sandbox.ts'
export type { SandboxDescription } from './probe/describe-sandbox.ts'
export type { ProcessGuard } from './process-guard.ts'
export type { ProgramSettings } from './program/program-request.ts'

/** What starts long-running programs, such as MCP servers; loaded when the first one is started. */
export const loadPrograms = lazyModule(() => import('./start/index.ts'))
