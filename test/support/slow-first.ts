import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What takes longest, longest first. Some of it waits more than it works, which leaves the machine to the others. */
const SLOW = [
  'test/attacks/attacks.test.ts',
  'test/containment/containment.test.ts',
  'test/guides.test.ts',
  'test/load-balancer.test.ts',
  'test/power-loss.test.ts',
  'test/image.test.ts',
  'test/feature-places.test.ts',
  'test/add-a-feature.test.ts',
  'test/packed.test.ts',
  'test/faults-killed.test.ts',
  'test/records.test.ts',
  'test/cluster-service-killed.test.ts',
  'test/race.test.ts',
  'test/evals.test.ts',
  'test/faults.test.ts',
  'test/fuzz-shell.test.ts',
  'packages/tool-hub/src/cli/commands/store.postgres.test.ts',
  'packages/tool-hub/src/cli/commands/audit.postgres.test.ts',
  'test/planted-objects.test.ts',
  'test/planted-repositories.test.ts',
  'test/planted-git.test.ts',
  'test/planted-code.test.ts',
]

/** Starts the slow files of a project first, so that at the end no worker has one of them alone; a fresh clone knows no times. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const projects = [...new Set(sorted.map(({ project }) => project))]
    return projects.flatMap((project) =>
      sorted.filter((file) => file.project === project).sort((one, other) => rankOf(one) - rankOf(other)),
    )
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = SLOW.findIndex((path) => moduleId.endsWith(`/${path}`))
  return rank === -1 ? SLOW.length : rank
}
