export { type ConfigDocument, sourceOf } from './config-document.ts'
export { parseJson5 } from './parse-json5.ts'
export { parseYaml } from './parse-yaml.ts'
export { configError, formatPath, formatPlace, type KeyPath, MAX_SHOWN, type Problem } from './problem.ts'
