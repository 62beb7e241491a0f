const VERBS = ['allow', 'ask', 'deny']

/** Rules by subject alone: tools and groups that a large installation would name. */
export function subjectRules(count) {
  return Array.from({ length: count }, (_, index) => {
    const subject = index % 5 === 4 ? `group:area${index}` : `acme/area${index}.doThing`
    return { [VERBS[index % 3]]: subject }
  })
}

/** Rules `on` targets: folders, hosts and commands, evenly. */
export function targetRules(count) {
  return Array.from({ length: count }, (_, index) => {
    const verb = VERBS[Math.floor(index / 3) % 3]
    if (index % 3 === 0) return { [verb]: 'read:fs', on: `/srv/project${index}/**` }
    if (index % 3 === 1) return { [verb]: 'network', on: `https://host${index}.example.org/**` }
    return { [verb]: 'exec', on: [`tool${index} status`, `tool${index} diff *`] }
  })
}

/** Rules that an index can hardly tell apart: all about one program, or all globs over plain text. */
export function alikeRules(count) {
  return Array.from({ length: count }, (_, index) =>
    index % 2 === 0 ? { allow: 'exec', on: `git verb${index} *` } : { allow: 'memory', on: `notes${index}/**` },
  )
}

/** What an owner's file looks like: half by subject, half `on` targets, and a denial that concerns every call. */
export function ownerRules(count) {
  const half = Math.floor((count - 1) / 2)
  const secrets = { deny: '*', on: ['~/.ssh/**', '**/*.pem'], reason: 'secrets stay on this machine' }
  return [secrets, ...subjectRules(half), ...targetRules(count - 1 - half)]
}
