import type { AbilityHost, Rights } from '../../contracts/ability.ts'
import { type Principal, rootsOf } from '../../principal.ts'

/** What somebody may now of what it might then; or why nothing. */
export type PresentRights =
  | { readonly ok: true; readonly rights: Rights }
  | { readonly ok: false; readonly why: string; readonly isForGood: boolean }

/** Looks again at rights that were captured: both what held then and what holds now must allow a call. */
export async function presentRights(
  captured: Rights,
  { principalNow }: Pick<AbilityHost, 'principalNow'>,
): Promise<PresentRights> {
  const { principal: then } = captured
  if (!then) return { ok: true, rights: captured }
  const now = await principalNow(then)
  if (!now)
    return { ok: false, why: `${then.name}, whose schedule it is, is gone or may not call any more.`, isForGood: true }
  if (textOf(rootsOf(now)) !== textOf(rootsOf(then)))
    return {
      ok: false,
      why: `The folders of ${then.name} are others than when it was made. Make it anew.`,
      isForGood: false,
    }
  return { ok: true, rights: { ...captured, principal: textOf(now) === textOf(then) ? then : narrowed(now, then) } }
}

/** All of what holds now, within all of what held then. */
function narrowed(now: Principal, then: Principal): Principal {
  return { ...now, within: now.within ? narrowed(now.within, then) : uncounted(then) }
}

/** What was counted then is counted now, and once. */
function uncounted({ budget: _, budgetFor: __, rate: ___, chargedRuns: ____, within, ...rest }: Principal): Principal {
  return { ...rest, ...(within && { within: uncounted(within) }) }
}

function textOf(value: unknown): string {
  return JSON.stringify(value) ?? ''
}
