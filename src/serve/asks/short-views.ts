import type { Ask } from '../../store.ts'
import type { Approval, Question } from '../api/asks.ts'
import type { Visitor } from '../service.ts'
import { cutFacts } from './cut-facts.ts'
import {
  type ApprovalFacts,
  type QuestionFacts,
  readApprovalFacts,
  readQuestionFacts,
  showApproval,
  showQuestion,
} from './to-view.ts'

interface Short<T> {
  readonly facts: T
  readonly isCut: boolean
}

const MOST_KEPT = 2_000

/** Asks as lists and events show them: short, and read once, because whoever watches lists them again and again. */
export class ShortViews {
  readonly #approvals = new Map<string, Short<ApprovalFacts>>()
  readonly #questions = new Map<string, Short<QuestionFacts>>()

  approval(ask: Ask, now: number, visitor?: Visitor): Approval {
    const { facts, isCut } = keep(this.#approvals, ask, readApprovalFacts)
    return withShortAnswer(showApproval(facts, ask, now, visitor), isCut)
  }

  question(ask: Ask, now: number, visitor?: Visitor): Question {
    const { facts, isCut } = keep(this.#questions, ask, readQuestionFacts)
    return withShortAnswer(showQuestion(facts, ask, now, visitor), isCut)
  }
}

function keep<T extends { readonly caller: string; readonly principal?: string }>(
  kept: Map<string, Short<T>>,
  ask: Ask,
  read: (ask: Ask) => T,
): Short<T> {
  const known = kept.get(ask.id)
  if (known) return known
  const facts = read(ask)
  const short = cutFacts(facts)
  // Whose it is decides who may answer.
  const whole = { ...short.facts, caller: facts.caller, ...(facts.principal && { principal: facts.principal }) }
  const added = { facts: whole, isCut: short.isCut }
  if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value!)
  kept.set(ask.id, added)
  return added
}

function withShortAnswer<T extends Approval | Question>(view: T, isCut: boolean): T {
  const short = view.answered && cutFacts(view.answered)
  return { ...view, ...(short && { answered: short.facts }), ...((isCut || short?.isCut) && { isCut: true }) }
}
