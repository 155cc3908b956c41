import { afterAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Deployment } from 'kubernetes-types/apps/v1.js';
import type { Job } from 'kubernetes-types/batch/v1.js';
import type { Container, PodSpec } from 'kubernetes-types/core/v1.js';
import { parse, parseAllDocuments } from 'yaml';
import { START_FLAGS } from '../scripts/start-flags.js';
import { SETTINGS } from '../src/platform/config/settings.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const KUBERNETES = join(ROOT, 'deploy/kubernetes');
const KUSTOMIZATION = 'kustomization.yaml';
/** Where the types of the packages are found. */
const CACHE = join(ROOT, 'node_modules/.cache');
/** Of the compiler, on a busy machine. */
const COMPILER_TIMEOUT_MS = 120_000;
const SETTLED_MS = 5_000;

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
}

const textOf = (file: string): string => readFileSync(join(KUBERNETES, file), 'utf8');
const files = readdirSync(KUBERNETES).filter((file) => file !== KUSTOMIZATION);
const resources = files.flatMap((file) =>
  parseAllDocuments(textOf(file)).map((document) => document.toJS() as Resource),
);
const pods = resources.flatMap((resource): PodSpec[] => {
  if (resource.kind !== 'Deployment' && resource.kind !== 'Job') return [];
  return [(resource as unknown as Deployment | Job).spec?.template.spec ?? { containers: [] }];
});

/** A module that assigns each resource to its type: an unknown field and a value of a wrong type do not compile. */
function typedModule(): string {
  const of = ({ apiVersion, kind }: Resource): string => {
    const path = apiVersion.includes('/')
      ? apiVersion.replace('.k8s.io', '')
      : `core/${apiVersion}`;
    return `import('kubernetes-types/${path}.js').${kind}`;
  };
  const lines = resources.map(
    (resource) => `${JSON.stringify(resource)} satisfies ${of(resource)};`,
  );
  return `${lines.map((line, index) => `export const r${index} = ${line}`).join('\n')}\n`;
}

describe('the base for Kubernetes', () => {
  const folders: string[] = [];
  afterAll(async () => {
    for (const folder of folders) await rm(folder, { recursive: true });
  });

  const compile = async (text: string): Promise<string> => {
    await mkdir(CACHE, { recursive: true });
    const folder = await mkdtemp(join(CACHE, 'kubernetes-'));
    folders.push(folder);
    await writeFile(join(folder, 'resources.ts'), text);
    const compiler = join(ROOT, 'node_modules/typescript-native/bin/tsc');
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--types', ''];
    const args = [compiler, ...flags, join(folder, 'resources.ts')];
    return promisify(execFile)(process.execPath, args, { timeout: COMPILER_TIMEOUT_MS }).then(
      () => '',
      (error: unknown) => (error as { stdout: string }).stdout,
    );
  };

  it(
    'has no field that the API of the cluster does not know, and no value of another type',
    async () => {
      const text = typedModule();
      expect(await compile(text)).toBe('');
      const wrong = text
        .replace('"readinessProbe"', '"readynessProbe"')
        .replace('"replicas":2', '"replicas":"2"');
      const told = await compile(wrong);
      expect(told).toMatch(/readynessProbe.* does not exist/);
      expect(told).toContain("'string' is not assignable to type 'number'");
    },
    2 * COMPILER_TIMEOUT_MS,
  );

  it('lists each of its files', () => {
    const { resources: listed } = parse(textOf(KUSTOMIZATION)) as { resources: string[] };
    expect(listed.toSorted()).toEqual(files.toSorted());
  });

  it('names settings that exist', () => {
    const settings = resources.find(({ kind }) => kind === 'ConfigMap')?.data ?? {};
    const named = [
      ...Object.keys(settings),
      ...pods.flatMap(({ containers }) =>
        containers.flatMap(({ env }) => (env ?? []).map(({ name }) => name)),
      ),
    ];
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !Object.hasOwn(SETTINGS, name))).toEqual([]);
    expect(Object.values(settings).every((value) => typeof value === 'string')).toBe(true);
  });

  it('gives no pod a right that it does not need', () => {
    expect(pods).toHaveLength(3);
    for (const pod of pods) {
      expect(pod.automountServiceAccountToken).toBe(false);
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
      for (const { securityContext } of pod.containers) {
        expect(securityContext).toMatchObject({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
  });

  it('lets the gateway end its calls before the cluster kills it', () => {
    const settings = resources.find(({ kind }) => kind === 'ConfigMap')?.data ?? {};
    const drainMs = Number(settings.DRAIN_TIMEOUT_MS);
    const served = pods.filter(({ containers }) => containers[0]?.readinessProbe !== undefined);
    expect(served).toHaveLength(2);
    for (const { terminationGracePeriodSeconds: graceSeconds, containers } of served) {
      expect(Number(graceSeconds) * 1000).toBeGreaterThanOrEqual(drainMs + SETTLED_MS);
      const [container] = containers as [Container];
      const { readinessProbe: ready, livenessProbe: live } = container;
      expect([ready?.httpGet?.path, live?.httpGet?.path]).toEqual([
        '/health/ready',
        '/health/live',
      ]);
      // The cluster has turned away before a call is refused.
      const seenMs = Number(ready?.periodSeconds) * Number(ready?.failureThreshold) * 1000;
      expect(Number(settings.DRAIN_NOTICE_MS)).toBeGreaterThan(seenMs);
    }
  });
});

describe('the unit for systemd', () => {
  const unit = readFileSync(join(ROOT, 'deploy/systemd/shim.service'), 'utf8');

  it('starts the gateway with its options and gives it time to end', () => {
    expect(unit).toContain(`ExecStart=/usr/bin/node ${START_FLAGS.join(' ')} dist/main.js\n`);
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(125);
    expect(unit).toContain('KillMode=mixed\n');
  });
});
