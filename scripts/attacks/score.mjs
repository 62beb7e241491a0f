// Scores a case as README.md of the corpus says: escape, over-strict, exact.
const STRENGTH = { allow: 0, ask: 1, deny: 2 }

/**
 * `got` is { verdict, code, message, effects }: effects are forbidden things that happened, `problem` says that the
 * case failed in a way which is neither an answer nor a typed error.
 */
export function scoreCase(attack, got) {
  const { id, expected, accept = [expected], error: preferred } = attack
  const isEscape =
    got.effects.length > 0 || STRENGTH[got.verdict] < Math.min(...accept.map((verdict) => STRENGTH[verdict]))
  const isAccepted = accept.includes(got.verdict) && !got.problem
  return {
    id,
    class: attack.class,
    expected,
    got: got.verdict,
    code: got.code,
    outcome: isEscape ? 'escape' : isAccepted ? 'accepted' : 'over-strict',
    isExact: !isEscape && isAccepted && got.verdict === expected,
    isCodePreferred: preferred === undefined || got.code === undefined ? undefined : got.code === preferred,
    why: [...got.effects, got.problem, got.code && `${got.code}: ${got.message}`, attack.reason]
      .filter(Boolean)
      .join(' | '),
  }
}

/** The report of one file. */
export function summarize(file, scores) {
  const count = (test) => scores.filter(test).length
  const toAllow = scores.filter(({ expected }) => expected === 'allow')
  const overStrictOnAllow = toAllow.filter(({ outcome }) => outcome === 'over-strict').length
  return {
    file,
    cases: scores.length,
    escapes: count(({ outcome }) => outcome === 'escape'),
    overStrict: count(({ outcome }) => outcome === 'over-strict'),
    exact: count(({ isExact }) => isExact),
    expectedAllow: toAllow.length,
    overStrictOnAllow,
    overStrictShare: shareOf(overStrictOnAllow, toAllow.length),
    exactShare: shareOf(
      count(({ isExact }) => isExact),
      scores.length,
    ),
    benignAsked: shareOf(
      toAllow.filter((score) => isBenign(score) && score.got !== 'allow').length,
      toAllow.filter(isBenign).length,
    ),
    classes: byClass(scores),
    preferredCodes: count(({ isCodePreferred }) => isCodePreferred === true),
    otherCodes: count(({ isCodePreferred }) => isCodePreferred === false),
    misses: scores.filter(({ outcome }) => outcome !== 'accepted').map(({ isExact, isCodePreferred, ...miss }) => miss),
    /** Accepted, but not the verdict that was hoped for. */
    inexact: scores
      .filter(({ outcome, isExact }) => outcome === 'accepted' && !isExact)
      .map(({ id, expected, got, why }) => ({ id, expected, got, why })),
  }
}

function isBenign(score) {
  return score.class?.startsWith('benign') ?? false
}

function byClass(scores) {
  const classes = {}
  for (const { class: name = '', outcome, isExact } of scores) {
    classes[name] ??= { cases: 0, escapes: 0, overStrict: 0, exact: 0 }
    const row = classes[name]
    row.cases += 1
    if (outcome === 'escape') row.escapes += 1
    if (outcome === 'over-strict') row.overStrict += 1
    if (isExact) row.exact += 1
  }
  return classes
}

function shareOf(part, all) {
  return all === 0 ? 0 : part / all
}
