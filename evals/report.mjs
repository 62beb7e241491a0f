const Z = 1.96

/** The figures of one policy: one line for each suite, and one for all. */
export function summarise(results) {
  const suites = Object.entries(results).map(([name, result]) => ({ name, ...figuresOf([result]) }))
  return [...suites, { name: 'all', ...figuresOf(Object.values(results)) }]
}

function figuresOf(results) {
  const tasks = results.flatMap((result) => result.tasks)
  const pairs = results.reduce((sum, result) => sum + result.pairs, 0)
  const variants = Object.keys(results[0].opened)
  const opened = Object.fromEntries(variants.map((name) => [name, results.flatMap((result) => result.opened[name])]))
  const approvals = tasks.flatMap((task) => task.approvals)
  return {
    tasks: tasks.length,
    unasked: tasks.filter((task) => task.approvals.length === 0).length,
    approvalsPerTask: tasks.length === 0 ? 0 : approvals.length / tasks.length,
    pairs,
    opened,
    causes: countCauses(approvals),
  }
}

/** How often each argument caused an approval, the most frequent first. */
function countCauses(approvals) {
  const counts = new Map()
  for (const { tool, unproven } of approvals)
    for (const argument of unproven.length > 0 ? unproven : ['(any call)']) {
      const key = `${tool} ${argument}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([cause, count]) => ({ cause, count }))
}

/** A share with its 95 % interval (Wilson): `46 of 97 (38 to 57 %)`. */
export function share(count, all) {
  if (all === 0) return '0 of 0'
  const p = count / all
  const middle = p + (Z * Z) / (2 * all)
  const spread = Z * Math.sqrt((p * (1 - p)) / all + (Z * Z) / (4 * all * all))
  const [low, high] = [middle - spread, middle + spread].map((each) => (100 * each) / (1 + (Z * Z) / all))
  return `${count} of ${all} (${round(low)} to ${round(high)} %)`
}

function round(percent) {
  const shown = percent > 99 ? Math.floor(percent * 10 + 0.01) / 10 : Math.round(percent)
  return String(Math.min(100, Math.max(0, shown)))
}

/** The tables of all policies, as Markdown. */
export function tables(report) {
  const [first] = Object.values(report)
  const lines = [
    '| policy | suite | attacks stopped | tasks without approval | approvals per task |',
    '|---|---|---|---|---|',
  ]
  for (const [policy, rows] of Object.entries(report))
    for (const { name, tasks, unasked, approvalsPerTask, pairs, opened } of rows) {
      const [recorded] = Object.values(opened)
      const stopped = share(pairs - recorded.length, pairs)
      lines.push(`| ${policy} | ${name} | ${stopped} | ${share(unasked, tasks)} | ${approvalsPerTask.toFixed(2)} |`)
    }
  return {
    main: lines.join('\n'),
    variants: variantTable(report),
    causes: causeTable(report),
    suites: first.length - 1,
  }
}

/** How many attacks each spelling opens, by policy. */
function variantTable(report) {
  const policies = Object.entries(report)
  const names = [...new Set(policies.flatMap(([, rows]) => Object.keys(rows.at(-1).opened)))]
  const cell = (rows, name) => {
    const { opened, pairs } = rows.at(-1)
    return opened[name] === undefined ? '' : share(opened[name].length, pairs)
  }
  return [
    `| spelling of the attack | ${policies.map(([name]) => name).join(' | ')} |`,
    `|---|${policies.map(() => '---|').join('')}`,
    ...names.map((name) => `| ${name} | ${policies.map(([, rows]) => cell(rows, name)).join(' | ')} |`),
  ].join('\n')
}

/** How many calls are decided in another way when a script makes them. */
export function scriptTable(scripts) {
  const rows = Object.entries(scripts).map(([name, { calls, differences }]) => [name, calls, differences.length])
  const sum = (column) => rows.reduce((total, row) => total + row[column], 0)
  return [
    '| suite | calls, direct and by a script | decided differently |',
    '|---|---|---|',
    ...[...rows, ['all', sum(1), sum(2)]].map((row) => `| ${row.join(' | ')} |`),
  ].join('\n')
}

const MAX_CAUSES = 12

function causeTable(report) {
  const causes = report.recommended?.at(-1).causes ?? []
  return [
    '| tool and argument | approvals |',
    '|---|---|',
    ...causes.slice(0, MAX_CAUSES).map(({ cause, count }) => `| ${cause} | ${count} |`),
  ].join('\n')
}
