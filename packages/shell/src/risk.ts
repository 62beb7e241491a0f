/** What a command does that a person should know before it runs, to be read after "it"; the most dangerous first. */
export const RISKS = {
  downloaded: 'downloads a script and runs it',
  secrets: 'reads a file that holds secrets',
  piped: 'runs a script that it reads from its input',
  rights: 'runs with other rights',
  machine: 'changes the machine or what runs on it',
  deletes: 'deletes files',
  discards: 'discards changes or rewrites the git history',
  forces: 'replaces or deletes commits in another repository (force push)',
  pushes: 'pushes commits to another repository',
  publishes: 'publishes a package',
  remote: 'acts on another machine',
  sends: 'sends data to the network',
  inline: 'runs code given on the command line',
  unknown: 'runs code that is only known when it runs',
  outside: 'uses files outside the folders it may touch',
  installs: 'installs packages, whose scripts can run code',
  script: 'runs a script or a program file, whatever it holds',
  network: 'connects to the network',
} as const satisfies Readonly<Record<string, string>>

export type Risk = keyof typeof RISKS

const ORDER = Object.keys(RISKS) as Risk[]

/** Risks of running another program: dropped if that program was found in the line and is judged by itself. */
const OF_CODE: ReadonlySet<Risk> = new Set(['piped', 'inline', 'unknown', 'script'])
const BY_REASON: ReadonlyMap<string, Risk> = new Map(
  (
    [
      ['piped', 'runs the program that is piped to it', 'runs the script that is piped to it'],
      ['piped', 'it runs what comes in on its standard input'],
      ['rights', 'is a program that runs with other rights or later', 'gives other rights, or runs something later'],
      ['rights', 'makes a file run as its owner', 'may make a file run as its owner'],
      [
        'machine',
        'changes the machine or what runs on it',
        'writes a file or a device',
        'changes what the daemon runs or keeps',
      ],
      [
        'machine',
        'starts a container, which is as good as commanding the machine',
        'gives the container more of this machine',
      ],
      ['deletes', 'deletes files', 'deletes what it finds', 'deletes a file', 'deletes what it packed'],
      ['deletes', 'deletes and writes a folder', 'lets it delete everything', 'changes or deletes files'],
      [
        'discards',
        'deletes a branch',
        'deletes a branch that is not merged',
        'deletes a tag',
        'writes the history anew',
      ],
      ['discards', 'changes the reference log', 'moves a branch', 'moves a tag'],
      ['remote', 'runs commands on another machine', 'is a command for another machine', 'commands another machine'],
      ['remote', 'uses keys, or runs commands on another machine', 'commands other machines', 'is on another machine'],
      ['sends', 'copies to or from another machine', 'sends a file', 'sends passwords from a file', 'sends mail'],
      ['sends', 'sends what it did to a service', 'sends the results to a service'],
      ['inline', 'is a program in another language', 'runs code', 'is code, or names code to load'],
      ['inline', 'evaluates an expression in Perl', 'runs a command line'],
      ['unknown', 'it runs a text that is only known when it runs', 'its name is only known when it runs'],
      ['unknown', 'its words are only known when it runs', 'has words whose meaning cannot be told'],
      [
        'script',
        'is a program that runs, whatever it holds',
        'is a script',
        'is a script that runs, whatever it holds',
      ],
      ['script', 'is a script that runs in the shell itself', 'runs a script', 'it runs a script'],
      [
        'installs',
        'installs packages',
        'fetches packages, and their scripts run',
        'installs software, whose scripts run',
      ],
      ['installs', 'installs software or runs it', 'is a program of a package, fetched when it is missing'],
      ['installs', 'is a program that is fetched and runs', 'fetches packages', 'fetches packages or runs their code'],
      ['network', 'fetches another repository', 'exchanges content with another repository'],
      ['network', 'reaches the network and may write files', 'reaches the network or files of its own choice'],
      ['network', 'writes what it fetches to a file', 'reaches a service over the network', 'reaches the registry'],
    ] as const
  ).flatMap(([risk, ...reasons]) => reasons.map((reason) => [reason, risk] as const)),
)
const OUTSIDE = ' is outside the folders it may touch'

/** How dangerous: 0 is the worst. */
export function rankOf(risk: Risk | undefined): number {
  return risk === undefined ? ORDER.length : ORDER.indexOf(risk)
}

/** Whether it needs an approval each time: no rule that allows it is proposed. */
export function isSevere(risk: Risk): boolean {
  return rankOf(risk) < rankOf('installs')
}

/** What a reason for a doubt means for people; `isShown` when the code it speaks of is judged by itself. */
export function riskOfReason(reason: string, isShown = false): Risk | undefined {
  const risk = reason.endsWith(OUTSIDE) ? 'outside' : BY_REASON.get(reason)
  return risk !== undefined && isShown && OF_CODE.has(risk) ? undefined : risk
}

/** All reasons that stand for a risk, for the test that checks that each is still used. */
export const KNOWN_REASONS: readonly string[] = [...BY_REASON.keys()]

/** What of a part of a command line tells whether it runs what another part has fetched. */
interface RiskyPart {
  readonly words: readonly (string | undefined)[]
  readonly risks?: readonly Risk[]
}

/** `curl … | sh`, `sh <(curl …)`, `curl -o x.sh …; sh x.sh`: the part that runs what another part has fetched says so. */
export function markDownloads<Part extends RiskyPart>(parts: readonly Part[]): readonly Part[] {
  const fetching = parts.filter(({ risks }) => risks?.includes('network'))
  if (fetching.length === 0) return parts
  return parts.map((part) => {
    const { risks = [] } = part
    if (fetching.includes(part) || !runsFetched(part, fetching)) return part
    return { ...part, risks: ['downloaded', ...risks.filter((risk) => !OF_CODE.has(risk))] }
  })
}

/** Options that let a push replace or delete what is there, in any spelling that Git takes; `+main` and `:main` do so for one branch. */
const FORCE = /^(?:--for|--mi|--del|--pru)|^-[a-zA-Z]*[fd]|^[+:]./

/** Whether a push replaces or deletes commits. A word that is only known when it runs may do so. */
export function isForced(words: readonly (string | undefined)[]): boolean {
  return words.slice(words.lastIndexOf('push') + 1).some((word) => word === undefined || FORCE.test(word))
}

function runsFetched({ risks = [], words }: RiskyPart, fetching: readonly RiskyPart[]): boolean {
  if (risks.includes('piped') || risks.includes('unknown')) return true
  if (!risks.includes('script')) return false
  const [, ...operands] = words
  return operands.some((word) => word === undefined || fetching.some((part) => part.words.includes(word)))
}
