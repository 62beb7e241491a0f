// Whether what an allowed line really ran is what the rules allow. It shares nothing with the judge, on purpose.
import path from 'node:path'
import { readOperands } from './operands.mjs'
import { ROOT } from './world.mjs'

/** Variables of the sandbox, and those that bash keeps by itself. */
const ENVIRONMENT = new Map([
  ['HOME', '/home/agent'],
  ['PATH', '/stubs'],
  ['PWD', ROOT],
  ['LC_ALL', 'C.UTF-8'],
  ['BASH_ENV', '/.driver/no-builtins.bash'],
])
const CHANGING = new Set(['FUZZ_LINE', 'FUZZ_FAIL', 'FUZZ_LAST_PID', 'SHLVL', '_'])

/** Also as abbreviations, which git takes: `--outp`, `--ext`. */
const GIT_HAZARDS = /^--(o|ou|out|outp|outpu|output|ext.*|textc.*)$/
const GO_HAZARDS =
  /^--?(o|exec|toolexec|vettool|overlay|modfile|cpuprofile|memprofile|blockprofile|mutexprofile|trace|coverprofile|outputdir|C|gccgoflags|ldflags|gcflags|asmflags|compiler|pkgdir|c|fuzz|test\..*)(=|$)/
/** Options of go that take the next word, which is not a file then. */
const GO_VALUES =
  /^--?(run|skip|bench|benchtime|count|timeout|tags|p|parallel|vet|installsuffix|mod|shuffle|cpu|list|buildmode|covermode|coverpkg)$/

/** What ran that should not have, in words; empty when all is well. */
export function problemsOf({ programs, said }, { line, commands }) {
  const problems = programs.flatMap((program) => [...programProblems(program), ...misreadings(program, commands)])
  for (const [, place] of said.matchAll(
    /^bash: line \d+: ([^\n:]*\/[^\n:]*): (?:No such file|Is a dir|Permission)/gm,
  )) {
    // A file to read that is missing is said in the same words.
    if (!line.includes('<') || !isInside(place)) problems.push(`bash tried ${place}`)
  }
  if (/: \/dev\/(tcp|udp)\//.test(said)) problems.push(`bash opened a connection: ${said}`)
  return problems
}

/** A line may be harmless and still not have been understood: the next one is not. */
function misreadings({ program, words }, commands) {
  const ran = [path.basename(program), ...words]
  if (commands === undefined || commands.some((command) => fits(command, ran))) return []
  return [`${JSON.stringify(ran)} ran, but was read as one of ${JSON.stringify(commands)}`]
}

/** Undefined stands for any number of words. */
function fits(command, words) {
  if (command.length === 0) return words.length === 0
  const [first, ...rest] = command
  if (first !== undefined) return words[0] === first && fits(rest, words.slice(1))
  return Array.from({ length: words.length + 1 }, (_, index) => index).some((index) => fits(rest, words.slice(index)))
}

function programProblems({ program, cwd, environment, input, words }) {
  const shown = [program, ...words].map((word) => JSON.stringify(word)).join(' ')
  const problems = [...argvProblems(program, words), ...environmentProblems(environment)]
  if (cwd !== ROOT) problems.push(`in ${cwd}`)
  if (input.startsWith('OUTSIDE')) problems.push('reads from outside the workspace')
  return problems.map((problem) => `${shown}: ${problem}`)
}

function environmentProblems(environment) {
  return environment
    .filter((variable) => variable !== '')
    .map((variable) => [variable.slice(0, variable.indexOf('=')), variable.slice(variable.indexOf('=') + 1)])
    .filter(([name, value]) => !CHANGING.has(name) && ENVIRONMENT.get(name) !== value)
    .map(([name, value]) => `with ${name}=${value}`)
}

function argvProblems(program, words) {
  if (path.dirname(program) !== '/stubs') return ['not a program of the PATH']
  const check = CHECKS.get(path.basename(program))
  return check ? check(words) : ['no rule allows it']
}

const CHECKS = new Map([
  ['ls', (words) => fileProblems(readOperands('ls', words))],
  ['cat', (words) => fileProblems(readOperands('cat', words))],
  ['grep', grepProblems],
  ['git', gitProblems],
  ['go', goProblems],
])

function fileProblems({ operands, files }) {
  return outside([...operands, ...files])
}

function outside(operands) {
  return operands.filter((operand) => operand !== '-' && !isInside(operand)).map((operand) => `outside: ${operand}`)
}

function isInside(operand) {
  // Made by bash for <(…) whose commands are seen by themselves.
  if (/^\/dev\/fd\/\d+$/.test(operand)) return true
  const place = path.posix.resolve(ROOT, operand)
  return place === ROOT || place.startsWith(`${ROOT}/`)
}

function grepProblems(words) {
  const { operands, files, options } = readOperands('grep', words)
  const isPattern = (name) => ['-e', '-f'].includes(name) || (/^--(re|fil)/.test(name) && !/^--rec/.test(name))
  return fileProblems({ operands: options.some(isPattern) ? operands : operands.slice(1), files })
}

function gitProblems(words) {
  if (words.length === 1 && words[0] === 'status') return []
  if (words[0] !== 'diff') return ['no rule allows it']
  const found = readOperands('git', words.slice(1))
  const hazards = found.options.filter((option) => GIT_HAZARDS.test(option))
  return [...hazards.map((option) => `hazard ${option}`), ...fileProblems(found)]
}

function goProblems([verb, ...rest]) {
  if (verb !== 'build' && verb !== 'test') return ['no rule allows it']
  const problems = []
  for (let at = 0; at < rest.length && !/^--?args$/.test(rest[at]); at += 1) {
    if (GO_HAZARDS.test(rest[at])) problems.push(`hazard ${rest[at]}`)
    if (/^[./]/.test(rest[at])) problems.push(...outside([rest[at]]))
    if (GO_VALUES.test(rest[at])) at += 1
  }
  return problems
}
