export {
  type ConfigDocument,
  configError,
  formatPath,
  formatPlace,
  type KeyPath,
  MAX_SHOWN,
  type Problem,
  sourceOf,
} from './document.ts'
export { parseJson5, parseYaml } from './parse.ts'
