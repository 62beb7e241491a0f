// The bill of materials of the container image in CycloneDX 1.5: the Debian packages, Node, and the npm packages.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * `base` is the root of the first layer. `modules` and `bundled` are folders of the lock file: those in node_modules of
 * the image, and those that are compiled into the console. The same image has the same bill.
 */
export function makeBill({ base, modules, bundled, created }) {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const { name, version, license } = packages['']
  const npm = new Map(
    [...bundled, ...modules].map((path) => npmPackage(path, packages[path])).map((each) => [each.purl, each]),
  )
  const components = [...debianPackages(base), node(), ...npm.values()].map((each) => ({
    'bom-ref': each.purl,
    ...each,
  }))
  const purl = `pkg:npm/${name}@${version}`
  const content = {
    metadata: {
      timestamp: new Date(created * 1_000).toISOString(),
      component: { 'bom-ref': purl, type: 'container', name, version, purl, ...licensed(license) },
    },
    components,
    dependencies: [{ ref: purl, dependsOn: components.map((each) => each.purl) }],
  }
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex')
  const id = hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, 'urn:uuid:$1-$2-5$3-8$4-$5')
  return { bomFormat: 'CycloneDX', specVersion: '1.5', serialNumber: id, version: 1, ...content }
}

function debianPackages(base) {
  const [, distribution] = /^ID="?([\w.-]+)/m.exec(readFileSync(join(base, 'etc/os-release'), 'utf8'))
  const [, release] = /^VERSION_ID="?([\w.-]+)/m.exec(readFileSync(join(base, 'etc/os-release'), 'utf8')) ?? []
  const state = join(base, 'var/lib/dpkg/status.d')
  return readdirSync(state)
    .sort()
    .map((file) => {
      const control = readFileSync(join(state, file), 'utf8')
      const [name, version, architecture] = ['Package', 'Version', 'Architecture'].map(
        (key) => new RegExp(`^${key}: (.*)$`, 'm').exec(control)[1],
      )
      const qualifiers = `arch=${architecture}&distro=${distribution}${release === undefined ? '' : `-${release}`}`
      const purl = `pkg:deb/${distribution}/${encodeURIComponent(name)}@${encodeURIComponent(version)}?${qualifiers}`
      return { type: 'library', name, version, purl }
    })
}

function node() {
  const version = process.versions.node
  return { type: 'application', name: 'node', version, purl: `pkg:generic/node@${version}` }
}

function npmPackage(path, { name: alias, version, license, integrity }) {
  const name = alias ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const purl = `pkg:npm/${name.split('/').map(encodeURIComponent).join('/')}@${encodeURIComponent(version)}`
  return { type: 'library', name, version, purl, ...licensed(license), ...hashed(integrity) }
}

function licensed(license) {
  return license === undefined ? {} : { licenses: [{ expression: license }] }
}

/** The digest of the archive that npm downloaded, as in the lock file. */
function hashed(integrity) {
  const [, digest] = /(?:^|\s)sha512-(\S+)/.exec(integrity ?? '') ?? []
  return digest === undefined
    ? {}
    : { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }
}
