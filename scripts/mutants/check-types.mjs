import { join } from 'node:path'
import { API } from 'typescript/unstable/sync'

/** Checks a changed file and those that import it; one compiler stays open for all mutants. */
export function openTypes(root, users) {
  const project = join(root, 'tsconfig.json')
  const api = new API({ cwd: root })
  let snapshot = api.updateSnapshot({ openProjects: [project] })
  const changed = (file) => {
    const last = snapshot
    snapshot = api.updateSnapshot({ fileChanges: { changed: [join(root, file)] } })
    last.dispose()
  }
  const accepts = (file) => {
    changed(file)
    const { program } = snapshot.getProject(project)
    const checked = [file, ...users.importersOf(file)]
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(root, name))
    return checked.every(
      (name) => program.getSyntacticDiagnostics(name).length + program.getSemanticDiagnostics(name).length === 0,
    )
  }
  const close = () => {
    snapshot.dispose()
    api.close()
  }
  return { accepts, changed, close }
}
