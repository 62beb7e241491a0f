export { ScriptEngine } from './script-engine.ts'
export {
  DEFAULT_SCRIPT_LIMITS,
  type ScriptAnswer,
  type ScriptCall,
  type ScriptCallControl,
  type ScriptCallError,
  type ScriptCompletion,
  type ScriptFailure,
  type ScriptFailureKind,
  type ScriptHost,
  type ScriptLimits,
  type ScriptLog,
  type ScriptOutcome,
  type ScriptRun,
  type ScriptUsage,
} from './types.ts'
export type { WorkerPoolOptions } from './worker-pool.ts'
