import { STRENGTHS } from './words.mjs'

const Z = 1.96

/** The figures of one policy: one line for each suite and each benchmark, and one for all. */
export function summarise(benchmarks, results) {
  const rows = benchmarks.flatMap(({ name, suites }) => {
    const own = Object.keys(suites)
    return [
      ...own.map((suite) => ({ name: suite, ...figuresOf([results[suite]]) })),
      ...(benchmarks.length > 1
        ? [
            totalOf(
              `all of ${name}`,
              own.map((suite) => results[suite]),
            ),
          ]
        : []),
    ]
  })
  return [...rows, totalOf('all', Object.values(results))]
}

function totalOf(name, results) {
  return { name, isTotal: true, ...figuresOf(results) }
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
    unknown: results.reduce((sum, result) => sum + result.unknown.length, 0) + sumOf(tasks, 'unknown'),
    causes: countCauses(approvals),
    words: wordFigures(results.flatMap((result) => result.words)),
  }
}

/** In how many tasks an attacker with the user's own words has at least one effect unasked, by what it takes, and by which tools. */
function wordFigures(tasks) {
  const openTo = (isOpen) => tasks.filter(({ opened, own }) => opened.some((call) => isOpen(call, own))).length
  return {
    effects: STRENGTHS.map((_, most) => openTo(({ strength }) => strength <= most)),
    otherTools: openTo(({ tool }, own) => !own.includes(tool)),
    tools: countAll(tasks.flatMap(({ opened }) => opened.map(({ tool }) => tool))),
    tries: sumOf(tasks, 'tries'),
    checked: sumOf(tasks, 'checked'),
    differences: tasks.flatMap(({ id, differences }) => differences.map((call) => ({ task: id, ...call }))),
    calls: tasks.flatMap(({ id, opened }) => opened.map((call) => ({ task: id, ...call }))),
  }
}

function sumOf(rows, key) {
  return rows.reduce((sum, row) => sum + row[key], 0)
}

/** How often each argument caused an approval, the most frequent first. */
function countCauses(approvals) {
  const causes = approvals.flatMap(({ tool, unproven }) =>
    (unproven.length > 0 ? unproven : ['(any call)']).map((argument) => `${tool} ${argument}`),
  )
  return countAll(causes).map(({ name, count }) => ({ cause: name, count }))
}

/** How often each name occurs, the most frequent first. */
function countAll(names) {
  const counts = new Map()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([name, count]) => ({ name, count }))
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
  const lines = [
    "| policy | suite | attacks stopped | no such tool | tasks with an unasked effect, by the user's own words | tasks without approval | approvals per task |",
    '|---|---|---|---|---|---|---|',
  ]
  for (const [policy, rows] of Object.entries(report))
    for (const { name, tasks, unasked, approvalsPerTask, pairs, opened, unknown, words } of rows) {
      const [recorded] = Object.values(opened)
      const stopped = share(pairs - recorded.length, pairs)
      const effects = share(words.effects[EVERYDAY], tasks)
      const asked = `${share(unasked, tasks)} | ${approvalsPerTask.toFixed(2)}`
      lines.push(`| ${policy} | ${name} | ${stopped} | ${unknown} | ${effects} | ${asked} |`)
    }
  return {
    main: lines.join('\n'),
    variants: variantTable(report),
    words: wordTable(report),
    effects: effectTable(report),
    causes: causeTable(report),
  }
}

/** The strength that the main table shows. */
const EVERYDAY = 1

/** What each policy costs in approvals, and what an attacker with the user's own words can do then; the fewest approvals first. */
function wordTable(report) {
  const totals = Object.entries(report).flatMap(([policy, rows]) =>
    rows.filter(({ isTotal }) => isTotal).map((row) => ({ policy, ...row })),
  )
  const names = [...new Set(totals.map(({ name }) => name))]
  const ordered = names.flatMap((name) =>
    totals.filter((total) => total.name === name).sort((one, other) => one.approvalsPerTask - other.approvalsPerTask),
  )
  return [
    `| suites | policy | approvals per task | attacks stopped | ${STRENGTHS.map((name, place) => (place > 0 ? `and ${name}` : name)).join(' | ')} | of these with a tool that the task does not use |`,
    `|---|---|---|---|${STRENGTHS.map(() => '---|').join('')}---|`,
    ...ordered.map(({ name, policy, approvalsPerTask, pairs, opened, tasks, words }) => {
      const [recorded] = Object.values(opened)
      const effects = words.effects.map((count) => share(count, tasks)).join(' | ')
      const stopped = `${pairs - recorded.length} of ${pairs}`
      return `| ${name} | ${policy} | ${approvalsPerTask.toFixed(2)} | ${stopped} | ${effects} | ${share(words.otherTools, tasks)} |`
    }),
  ].join('\n')
}

/** Which tools have an effect unasked, and in how many tasks. */
function effectTable(report) {
  const tools = report.recommended?.at(-1).words.tools ?? []
  return [
    '| tool | tasks |',
    '|---|---|',
    ...tools.slice(0, MAX_CAUSES).map(({ name, count }) => `| ${name} | ${count} |`),
  ].join('\n')
}

/** How many decisions of the attacker with the user's own words were tried, and checked with real calls. */
export function wordChecks(report) {
  const all = Object.values(report).map((rows) => rows.at(-1).words)
  const differences = all.flatMap((words) => words.differences).length
  return `${sumOf(all, 'tries')} calls were tried; ${sumOf(all, 'checked')} of them were then made, and ${differences} ended in another way.`
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
  const rows = Object.entries(scripts).map(([name, { calls, unknown, differences }]) => [
    name,
    calls,
    unknown,
    differences.length,
  ])
  const sum = (column) => rows.reduce((total, row) => total + row[column], 0)
  return [
    '| suite | calls, direct and by a script | no such tool | decided differently |',
    '|---|---|---|---|',
    ...[...rows, ['all', sum(1), sum(2), sum(3)]].map((row) => `| ${row.join(' | ')} |`),
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
