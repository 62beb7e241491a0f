import type { ClusterState } from '../../api/types.ts'
import type { Tone } from '../../components/badge.tsx'

/** Something that a person should look at. */
interface Problem {
  readonly tone: Tone
  readonly title: string
  readonly advice: string
}

/** What is wrong or unusual in the cluster, the worst first. */
export function findProblems({ isCutOff, processes, queues }: ClusterState): Problem[] {
  const alive = processes.filter(({ isAlive }) => isAlive)
  const others = alive.filter(({ hasOtherRules }) => hasOtherRules)
  const versions = [...new Set(alive.map(({ version }) => version))].toSorted()
  const unserved = queues.filter(({ labels, waiting }) => waiting > 0 && !alive.some((each) => serves(each, labels)))
  const cut: Problem = {
    tone: 'bad',
    title: 'The service that answers this page has lost PostgreSQL',
    advice:
      'It starts no calls until its heartbeats succeed again, and its runs may move to other processes. Check PostgreSQL and the network of this machine.',
  }
  return [
    ...(isCutOff ? [cut] : []),
    ...unserved.map(({ labels, waiting }): Problem => {
      const wanted = labels === '' ? 'a worker' : `a worker with the labels ${labels}`
      const calls = waiting === 1 ? '1 call waits' : `${waiting} calls wait`
      return {
        tone: 'bad',
        title: `${calls} for ${wanted}, and none is running`,
        advice: 'Start a worker with all of these labels, or change the rule that sends the calls there.',
      }
    }),
    ...(others.length > 0 ? [otherRules(others)] : []),
    ...(versions.length > 1 ? [otherVersions(versions)] : []),
  ]
}

function otherRules(processes: ClusterState['processes']): Problem {
  const names = processes.map(({ host, pid }) => `${host} (${pid})`).join(', ')
  return {
    tone: 'warn',
    title: `Other processes have different rules: ${names}`,
    advice: 'Give all machines the same config. Until then, a decision depends on the process in which the run lives.',
  }
}

function otherVersions(versions: readonly string[]): Problem {
  return {
    tone: 'info',
    title: `Several versions of tool-hub are running: ${versions.join(', ')}`,
    advice:
      'This is normal during an upgrade. Features of the newest version work everywhere only when it is finished.',
  }
}

function serves({ kind, labels, isDraining }: ClusterState['processes'][number], wanted: string): boolean {
  const needed = wanted === '' ? [] : wanted.split(',')
  return kind === 'worker' && !isDraining && needed.every((label) => labels.includes(label))
}
