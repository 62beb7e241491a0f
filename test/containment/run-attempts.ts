import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { SandboxLevel } from '../../packages/core/src/commands.ts'
import type { CommandLimits } from '../../packages/core/src/limits.ts'
import type { Attempt } from './attempts.ts'
import { type Order, type Outcome, type Task, wordsFor } from './order.ts'
import { endProcesses, processesNamed } from './processes.ts'
import { type Verdict, verdictOf, worst } from './verdict.ts'
import { KEY_NAME, makeWorld, type Person, PYTHON, type World, writeFacts } from './world.ts'

/** What attempts are measured by; the hub at level full holds its commands to it, the one at level none is generous. */
const LIMITS: CommandLimits = {
  cpuMs: 1_000,
  memoryBytes: 64 * 1024 ** 2,
  processes: 24,
  fileBytes: 4 * 1024 ** 2,
  openFiles: 64,
}
const AT_ONCE = 4
/** How long processes may take to go after their hub was killed; without a sandbox they stay. */
const FAREWELL_MS = 60_000

/** What came of all attempts of one user at one level. */
export interface Attempted {
  /** By name; an attempt that needs what the machine does not have is missing. */
  readonly verdicts: ReadonlyMap<string, Verdict>
  readonly facts: Readonly<Record<string, unknown>>
  readonly secrets: Readonly<Record<string, string>>
  /** What is not as it was outside. */
  readonly harm: readonly string[]
  /** All that the hub said and gave back, and all files that it wrote. */
  readonly written: ReadonlyMap<string, string>
}

/** Who attempts, and where. */
export interface AttemptOptions {
  readonly module: string
  /** Owns the workspace, and runs the commands. */
  readonly person: Person
  /** Runs the hub, if that is somebody else. */
  readonly hub?: Person
  readonly level: SandboxLevel
}

/** Runs all attempts in a hub of that user; `module` is the bundled hub. */
export async function runAttempts(
  attempts: readonly Attempt[],
  { module, hub: hubUser, person, level }: AttemptOptions,
): Promise<Attempted> {
  const world = await makeWorld(person, LIMITS)
  const hub = startHub(module, world, hubUser ?? person)
  try {
    const facts = { ...world.facts, hubPid: hub.pid }
    writeFacts(world, facts, person)
    const wanted = attempts.filter(({ needs }) => needs === 'any' || (needs === 'root') === (person.uid === 0))
    const { outcomes, words } = await obey(hub, orderFor(world, wanted, { level, person }))
    outcomes.push(...(await killHub(hub, world, wanted, level === 'none' ? 0 : FAREWELL_MS)))
    const verdicts = wanted.flatMap((attempt) => {
      const turns = outcomes.filter(({ name }) => name === attempt.name).map((outcome) => verdictOf(attempt, outcome))
      return turns.length > 0 ? [[attempt.name, worst(turns)] as const] : []
    })
    return {
      verdicts: new Map(verdicts),
      facts,
      secrets: world.secrets,
      harm: world.harm(),
      written: new Map([
        ['the words of the hub', words],
        ...outcomes.map((outcome, index) => [`outcome ${index}, ${outcome.name}`, JSON.stringify(outcome)] as const),
        ...['runs', '.tool-hub'].flatMap((folder) => filesBelow(join(world.root, folder))),
      ]),
    }
  } finally {
    hub.kill('SIGKILL')
    endProcesses(processesNamed('left-by-', world.name))
    await world.remove()
  }
}

function startHub(module: string, { base, secrets }: World, person: Person): ChildProcess {
  const words = [join(base, 'machine/with-key.py'), KEY_NAME, secrets.session!, process.execPath, module]
  return spawn(PYTHON, words, {
    ...person,
    cwd: base,
    env: {
      PATH: process.env.PATH,
      HOME: join(base, 'home'),
      TMPDIR: join(base, 'tmp'),
      PLANTED_TOKEN: secrets.environment,
      AWS_SECRET_ACCESS_KEY: secrets.environment,
      npm_config__auth: secrets.known,
    },
    stdio: 'pipe',
  })
}

function orderFor(
  world: World,
  attempts: readonly Attempt[],
  { level, person }: { readonly level: SandboxLevel; readonly person: Person },
): Order {
  const { name, root, secondRoot, secrets } = world
  const tasks = attempts.map(({ name, file, before, machine, repeat }): Task => {
    const cwd = join(root, 'work', name)
    world.own(cwd, person)
    return { name, argv: wordsFor(join(root, 'attempts', file)), cwd, before, machine, repeat }
  })
  const limits = level === 'none' ? {} : LIMITS
  return { name, root, secondRoot, level, limits, secrets, tasks, atOnce: AT_ONCE, spoken: spokenSecrets(secrets) }
}

/** Commands that hold secrets which the hub knows, everywhere where a text can be. */
function spokenSecrets({ known, configured }: Readonly<Record<string, string>>): unknown[] {
  return [known, configured].flatMap((secret) => [
    { argv: ['printf', '%s', secret] },
    { command: `echo ${secret!.slice(0, 12)}""${secret!.slice(12)} >&2; exit 3` },
    { argv: ['cat'], stdin: secret },
    { argv: ['printenv', 'GIVEN'], env: { GIVEN: secret } },
    { argv: [`no-such-${secret}`] },
    { argv: ['true'], cwd: `no-such-${secret}` },
  ])
}

async function obey(hub: ChildProcess, order: Order): Promise<{ outcomes: Outcome[]; words: string }> {
  const outcomes: Outcome[] = []
  let words = ''
  hub.stderr!.setEncoding('utf8').on('data', (chunk: string) => {
    words += chunk
  })
  hub.stdin!.write(`${JSON.stringify(order)}\n`)
  for await (const line of createInterface({ input: hub.stdout! })) {
    const outcome = JSON.parse(line) as Outcome
    if (outcome.name === 'done') return { outcomes, words }
    outcomes.push(outcome)
  }
  const failed = outcomes.filter(({ result }) => result?.ok === false).slice(-10)
  throw new Error(`The hub ended before its attempts did: ${words}\nIts last failures: ${JSON.stringify(failed)}`)
}

/** What is left of the attempts that go on when their hub is killed. */
async function killHub(
  hub: ChildProcess,
  { name }: World,
  attempts: readonly Attempt[],
  maxMs: number,
): Promise<Outcome[]> {
  const ended = once(hub, 'close')
  hub.kill('SIGKILL')
  await ended
  const outcomes = []
  for (const attempt of attempts.filter(({ before }) => before === 'kill hub')) {
    const until = Date.now() + maxMs
    const look = () => processesNamed(`left-by-${attempt.name}-`, name)
    while (look().length > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 20))
    outcomes.push({ name: attempt.name, left: look() })
  }
  return outcomes
}

function filesBelow(folder: string): [string, string][] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path, readFileSync(path, 'latin1')])
}
