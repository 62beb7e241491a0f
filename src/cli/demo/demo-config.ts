/** The config of the demo, as an owner would write it. */
export function demoConfig(pageUrl: string): string {
  return `# What the agent of the demo may do. Change a rule, then ask again: policy explain demo/web.fetch --url …
version: 1
plugins: [./tools.mjs]
sandbox:
  root: ./workspace
  network: [127.0.0.1, paste.example]
  privateRanges: [127.0.0.1/32] # the page of the demo lives on this machine
policy:
  - { allow: network, on: "${pageUrl}", reason: "the shop's own page" }
  - { ask: write:fs, on: "./workspace/reports/**", reason: "a person looks at what is published" }
  - { deny: network, when: { tainted: true }, reason: "nothing leaves after foreign content was read" }
limits: { timeout: 10s, calls: 20 }
runs: ./runs
data: ./.tool-hub
`
}
