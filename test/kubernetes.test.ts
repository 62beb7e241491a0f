import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { loadConfig } from '@tool-hub/config'
import { describe, expect, it, vi } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { CLI_MAIN } from './support/cli.ts'

const run = promisify(execFile)
const FOLDER = 'deploy/kubernetes'

/** The parts of the schema of Kubernetes that the manifests use: a wrong or misplaced key is refused. */
const labels = z.record(z.string(), z.string())
const metadata = z.strictObject({
  name: z.string().optional(),
  generateName: z.string().optional(),
  labels: labels.optional(),
})
const selector = z.strictObject({ matchLabels: labels })
const port = z.union([z.string(), z.int().min(1).max(65_535)])
const seconds = z.int().positive().optional()
const probe = z.strictObject({
  httpGet: z
    .strictObject({
      path: z.string().startsWith('/'),
      port,
      httpHeaders: z.array(z.strictObject({ name: z.string(), value: z.string() })).optional(),
    })
    .optional(),
  exec: z.strictObject({ command: z.array(z.string()).min(1) }).optional(),
  ...{ initialDelaySeconds: seconds, periodSeconds: seconds, timeoutSeconds: seconds, failureThreshold: seconds },
})
const quantity = z.string().regex(/^\d+(m|Mi|Gi)?$/)
const partial = <T extends z.ZodType>(value: T) => z.partialRecord(z.enum(['requests', 'limits']), value)
const container = z.strictObject({
  name: z.string(),
  image: z.string().regex(/^tool-hub(:local)?$/),
  args: z.array(z.string()).min(1),
  envFrom: z.array(z.strictObject({ secretRef: z.strictObject({ name: z.string() }) })),
  env: z.array(
    z.strictObject({
      name: z.string(),
      valueFrom: z.strictObject({ fieldRef: z.strictObject({ fieldPath: z.literal('status.podIP') }) }),
    }),
  ),
  ports: z.array(z.strictObject({ name: z.string(), containerPort: z.int() })).optional(),
  startupProbe: probe.optional(),
  livenessProbe: probe.optional(),
  readinessProbe: probe.optional(),
  resources: partial(z.partialRecord(z.enum(['cpu', 'memory']), quantity)).optional(),
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  volumeMounts: z.array(
    z.strictObject({
      name: z.string(),
      mountPath: z.string().startsWith('/'),
      subPath: z.string().optional(),
      readOnly: z.boolean().optional(),
    }),
  ),
})
const podSpec = z.strictObject({
  serviceAccountName: z.string().optional(),
  automountServiceAccountToken: z.literal(false),
  enableServiceLinks: z.boolean().optional(),
  restartPolicy: z.literal('Never').optional(),
  terminationGracePeriodSeconds: seconds,
  securityContext: z.strictObject({
    runAsNonRoot: z.literal(true),
    runAsUser: z.literal(10_001),
    runAsGroup: z.literal(10_001),
    fsGroup: z.literal(10_001),
    fsGroupChangePolicy: z.enum(['OnRootMismatch', 'Always']).optional(),
    seccompProfile: z.strictObject({ type: z.literal('RuntimeDefault') }),
  }),
  topologySpreadConstraints: z
    .array(
      z.strictObject({
        maxSkew: z.int(),
        topologyKey: z.string(),
        whenUnsatisfiable: z.enum(['ScheduleAnyway', 'DoNotSchedule']),
        labelSelector: selector,
      }),
    )
    .optional(),
  containers: z.array(container).length(1),
  volumes: z.array(
    z.strictObject({
      name: z.string(),
      configMap: z.strictObject({ name: z.string() }).optional(),
      persistentVolumeClaim: z.strictObject({ claimName: z.string() }).optional(),
      emptyDir: z.strictObject({}).optional(),
    }),
  ),
})
const claim = z.strictObject({
  accessModes: z.array(z.enum(['ReadWriteOnce', 'ReadWriteMany'])).length(1),
  resources: partial(z.strictObject({ storage: quantity })),
})
const template = z.strictObject({ metadata: metadata.optional(), spec: podSpec })
const head = { metadata }
const manifest = z.discriminatedUnion('kind', [
  z.strictObject({
    ...{ apiVersion: z.literal('apps/v1'), kind: z.literal('StatefulSet'), ...head },
    spec: z.strictObject({
      ...{ serviceName: z.string(), replicas: z.int(), podManagementPolicy: z.literal('Parallel'), selector, template },
      volumeClaimTemplates: z.array(z.strictObject({ metadata, spec: claim })),
    }),
  }),
  z.strictObject({
    ...{ apiVersion: z.literal('apps/v1'), kind: z.literal('Deployment'), ...head },
    spec: z.strictObject({ replicas: z.int(), selector, template }),
  }),
  z.strictObject({
    ...{ apiVersion: z.literal('batch/v1'), kind: z.literal('Job'), ...head },
    spec: z.strictObject({ backoffLimit: z.int(), template }),
  }),
  z.strictObject({
    ...{ apiVersion: z.literal('v1'), kind: z.literal('Service'), ...head },
    spec: z.strictObject({
      clusterIP: z.literal('None').optional(),
      selector: labels,
      ports: z.array(z.strictObject({ name: z.string(), port: z.int(), targetPort: port })),
    }),
  }),
  z.strictObject({
    ...{ apiVersion: z.literal('policy/v1'), kind: z.literal('PodDisruptionBudget'), ...head },
    spec: z.strictObject({ maxUnavailable: z.int().positive(), selector }),
  }),
  z.strictObject({
    ...{ apiVersion: z.literal('networking.k8s.io/v1'), kind: z.literal('NetworkPolicy'), ...head },
    spec: z.strictObject({
      podSelector: selector,
      policyTypes: z.tuple([z.literal('Ingress')]),
      ingress: z.array(
        z.strictObject({
          ports: z.array(z.strictObject({ port })),
          from: z.array(z.strictObject({ podSelector: selector })).optional(),
        }),
      ),
    }),
  }),
  z.strictObject({
    ...{ apiVersion: z.literal('v1'), kind: z.literal('ServiceAccount'), ...head },
    automountServiceAccountToken: z.literal(false),
  }),
  z.strictObject({ apiVersion: z.literal('v1'), kind: z.literal('PersistentVolumeClaim'), ...head, spec: claim }),
])

/** Of kustomize, which refuses other keys only when somebody applies the folder. */
const kustomizationFile = z.strictObject({
  apiVersion: z.literal('kustomize.config.k8s.io/v1beta1'),
  kind: z.literal('Kustomization'),
  namespace: z.literal('tool-hub'),
  resources: z.array(z.string()),
  configMapGenerator: z.array(z.strictObject({ name: z.string(), files: z.array(z.string()) })),
  images: z.array(z.strictObject({ name: z.string(), newName: z.string(), newTag: z.string() })),
})
const kustomization = kustomizationFile.parse(parse(readFileSync(`${FOLDER}/kustomization.yaml`, 'utf8')))
const documents = [...kustomization.resources, 'migrate.yaml'].flatMap((file) =>
  parseAllDocuments(readFileSync(`${FOLDER}/${file}`, 'utf8')).map((each) => each.toJS() as unknown),
)
const manifests = documents.map((each) => manifest.parse(each))
const workloads = manifests.flatMap((each) =>
  each.kind === 'StatefulSet' || each.kind === 'Deployment' || each.kind === 'Job'
    ? [{ ...each, pod: each.spec.template.spec, labels: each.spec.template.metadata?.labels ?? {} }]
    : [],
)
const names = (kind: string) => manifests.flatMap((each) => (each.kind === kind ? [each.metadata.name] : []))

describe('the manifests for Kubernetes', () => {
  it('have the kinds that a hub needs, each in the schema of Kubernetes', () => {
    expect(manifests.map(({ kind }) => kind).sort()).toEqual(
      ['Deployment', 'Job', 'NetworkPolicy', 'PersistentVolumeClaim', 'PodDisruptionBudget', 'PodDisruptionBudget']
        .concat('Service', 'Service', 'ServiceAccount', 'StatefulSet')
        .sort(),
    )
  })

  it('refer only to volumes, claims, accounts, services and configs that exist', () => {
    const configs = kustomization.configMapGenerator.map(({ name }) => name)
    for (const workload of workloads) {
      const { kind, pod } = workload
      const claims = workload.kind === 'StatefulSet' ? workload.spec.volumeClaimTemplates : []
      const volumes = [...pod.volumes.map(({ name }) => name), ...claims.map((each) => each.metadata.name)]
      for (const { name } of pod.containers[0]!.volumeMounts) expect(volumes, kind).toContain(name)
      for (const { configMap, persistentVolumeClaim } of pod.volumes) {
        if (configMap && kind !== 'Job') expect(configs).toContain(configMap.name)
        if (persistentVolumeClaim) expect(names('PersistentVolumeClaim')).toContain(persistentVolumeClaim.claimName)
      }
      if (pod.serviceAccountName) expect(names('ServiceAccount')).toContain(pod.serviceAccountName)
    }
    for (const each of manifests)
      if (each.kind === 'StatefulSet') expect(names('Service')).toContain(each.spec.serviceName)
  })

  it('get their files and their image from the kustomization', () => {
    const listed = [...kustomization.resources, ...kustomization.configMapGenerator.flatMap(({ files }) => files)]
    const others = ['kustomization.yaml', 'migrate.yaml']
    expect([...listed, ...others].sort()).toEqual(readdirSync(FOLDER).sort())
    const mounted = workloads.flatMap(({ pod }) =>
      pod.containers[0]!.volumeMounts.flatMap(({ subPath }) => subPath ?? []),
    )
    for (const file of mounted) expect(kustomization.configMapGenerator[0]!.files).toContain(file)
    const [image] = kustomization.images
    for (const { kind, pod } of workloads)
      expect(pod.containers[0]!.image).toBe(kind === 'Job' ? `${image!.newName}:${image!.newTag}` : image!.name)
  })

  it('select the pods of the workloads, and name their ports', () => {
    for (const each of manifests) {
      if (each.kind !== 'Service' && each.kind !== 'PodDisruptionBudget') continue
      const wanted = each.kind === 'Service' ? each.spec.selector : each.spec.selector.matchLabels
      const [found] = workloads.filter(({ labels }) => labels.app === wanted.app)
      expect(found, each.metadata.name).toBeDefined()
      if (each.kind !== 'Service') continue
      const ports = found!.pod.containers[0]!.ports!.map(({ name }) => name)
      for (const { targetPort } of each.spec.ports) expect(ports).toContain(targetPort)
    }
  })

  it('give workers another database user than services, and enough time to end', () => {
    const secretOf = (kind: string) =>
      workloads.find((each) => each.kind === kind)!.pod.containers[0]!.envFrom[0]!.secretRef.name
    expect(secretOf('StatefulSet')).toBe(secretOf('Job'))
    expect(secretOf('Deployment')).not.toBe(secretOf('StatefulSet'))
    for (const { kind, pod } of workloads)
      if (kind !== 'Job') expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(45)
  })

  it('have a config that is valid and agrees with the ports', async () => {
    vi.stubEnv('POD_IP', '10.1.2.3')
    vi.stubEnv('POSTGRES_USER', 'tool_hub')
    vi.stubEnv('POSTGRES_PASSWORD', 's3cret')
    try {
      const { service } = await loadConfig({ file: `${FOLDER}/tool-hub.yaml` })
      const { ports } = workloads.find(({ kind }) => kind === 'StatefulSet')!.pod.containers[0]!
      expect(ports).toEqual([
        { name: 'http', containerPort: service.port },
        { name: 'cluster', containerPort: Number(new URL(service.cluster!.address!).port) },
      ])
      expect(service.allowedHosts).toEqual(['10.1.2.3'])
    } finally {
      vi.unstubAllEnvs()
    }
  })

  it.each(workloads.map(({ kind, pod }) => [kind, pod.containers[0]!.args] as const))(
    'run the %s with a command and options that exist: %j',
    async (_, args) => {
      const { stdout } = await run(process.execPath, [CLI_MAIN, args[0]!, '--help'])
      for (const option of args.filter((word) => word.startsWith('--'))) expect(stdout).toContain(option)
    },
  )
})
