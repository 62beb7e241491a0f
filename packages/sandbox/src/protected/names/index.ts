/** What is protected by its name, at any depth and whether it exists or not. Pure. */
export {
  closedToFileTools,
  foldName,
  holdsClosed,
  isClosedToCommands,
  isHiddenFromCommands,
  RUN_BY_OTHERS,
} from './protected-names.ts'
export { isHookConfig } from './run-later-names.ts'
export { compileNames, hasVariables, SECRET_NAMES } from './secret-names.ts'
