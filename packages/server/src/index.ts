export {
  adoptRules,
  ConfigReload,
  type FileRules,
  type RuleHolder,
  refusedMessage,
  restartMessage,
} from './config-reload.ts'
export { formatJson, formatText, LOG_LEVELS, type LogEntry } from './service-log.ts'
export { type Judge, judgeAgain, withTokenRules } from './services/test-rules.ts'
export {
  DEFAULT_PORT,
  type RunningService,
  type StartServiceOptions,
  startService,
} from './start-service.ts'
export {
  type RunningWorker,
  type StartedWorker,
  type StartWorkerOptions,
  startWorker,
  type WorkerLogEntry,
  type WorkerOptions,
} from './start-worker.ts'
