export type { Config, OidcOptions, ServiceOptions, WebhookOptions } from '@tool-hub/config'
export {
  CONFIG_NAMES,
  configTemplate,
  type LoadConfigOptions,
  type LoadedConfig,
  loadConfig,
  parseDuration,
  parseRate,
  parseSize,
  type TemplatePlaces,
} from '@tool-hub/config'
