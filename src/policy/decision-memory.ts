import type { Decision, Question } from './question.ts'

const MOST_REMEMBERED = 1_000

/** Answers to questions without targets, which calls of pure tools repeat endlessly. */
export interface DecisionMemory {
  recall(question: Question): Decision | undefined
  remember(question: Question, decision: Decision): void
}

/** A bounded memory; the oldest answer leaves first. */
export function createDecisionMemory(): DecisionMemory {
  const answers = Array.from({ length: 4 }, () => new Map<string, { question: Question; decision: Decision }>())

  return {
    recall(question) {
      if (!isRepeatable(question)) return undefined
      const known = answers[slotOf(question)]!.get(question.tool)
      return known !== undefined && isSameTool(known.question, question) ? known.decision : undefined
    },
    remember(question, decision) {
      if (!isRepeatable(question)) return
      const slot = answers[slotOf(question)]!
      if (slot.size >= MOST_REMEMBERED) slot.delete(slot.keys().next().value ?? '')
      slot.set(question.tool, { question, decision })
    },
  }
}

function isRepeatable({ targets, grants }: Question): boolean {
  return targets.length === 0 && grants === undefined
}

function slotOf({ caller, tainted }: Question): number {
  return (caller === 'script' ? 1 : 0) + (tainted ? 2 : 0)
}

/** A tool may be replaced under its name: then its facts differ and the old answer does not count; nor without the sandbox. */
function isSameTool(a: Question, b: Question): boolean {
  if (a.isUnsandboxed !== b.isUnsandboxed) return false
  return isSameList(a.names, b.names) && isSameList(a.groups, b.groups) && isSameList(a.capabilities, b.capabilities)
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((item, index) => item === b[index]))
}
