export type { Config, OidcOptions, ServiceOptions, WebhookOptions } from '../config/index.ts'
export {
  CONFIG_NAMES,
  configTemplate,
  type LoadConfigOptions,
  type LoadedConfig,
  loadConfig,
  parseDuration,
  parseRate,
  parseSize,
} from '../config/index.ts'
