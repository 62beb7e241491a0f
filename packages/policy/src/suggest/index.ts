export type { CommandNeed } from './suggest-commands.ts'
export { type ReviewedCall, type SuggestedRule, type SuggestedTool, suggestRules } from './suggest-rules.ts'
