export type { OidcOptions, ServiceOptions, WebhookOptions } from '../config/index.ts'
export {
  type RunningService,
  type RunningWorker,
  type StartedWorker,
  type StartServiceOptions,
  startService,
  startWorker,
  type WorkerLogEntry,
  type WorkerOptions,
} from '../server/index.ts'
