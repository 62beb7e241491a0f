export { parseJson5, parseYaml } from './parse.ts'
