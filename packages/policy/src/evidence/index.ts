export { type ArgumentFacts, isIdName, isTextArgument, lastWordsOf } from './argument-kind.ts'
export {
  type CallArguments,
  type ControlValue,
  findUnproven,
  unprovenValues,
  type ValueEvidence,
} from './provenance.ts'
export { budgetOf } from './search-budget.ts'
export { UserWords } from './user-words.ts'
