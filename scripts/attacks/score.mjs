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
    overStrictShare: toAllow.length === 0 ? 0 : overStrictOnAllow / toAllow.length,
    preferredCodes: count(({ isCodePreferred }) => isCodePreferred === true),
    otherCodes: count(({ isCodePreferred }) => isCodePreferred === false),
    misses: scores.filter(({ outcome }) => outcome !== 'accepted').map(({ isExact, isCodePreferred, ...miss }) => miss),
  }
}
