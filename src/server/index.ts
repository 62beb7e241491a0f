export { adoptRules, ConfigReload, type RuleHolder, refusedMessage, restartMessage } from './config-reload.ts'
export { formatJson, formatText } from './log/format-entry.ts'
export { LOG_LEVELS, type LogEntry } from './log/service-log.ts'
export { type Judge, judgeAgain } from './services/judge-again.ts'
export {
  connectionLimit,
  DEFAULT_PORT,
  type RunningService,
  type StartServiceOptions,
  startService,
} from './start-service.ts'
