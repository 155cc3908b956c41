import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir } from 'node:fs/promises';

/** The newest runtime of the image's major version (`Dockerfile`), as its npm package has it. */
export const SHIPPED_VERSION = '24.21.0';
/** Environment variable that names the `node` with which the benchmarks were started. */
export const PRESENT_NODE = 'BENCH_PRESENT_NODE';

/** Whether this process runs on the major version of the image. */
export function isShippedNode(): boolean {
  return process.versions.node.split('.')[0] === SHIPPED_VERSION.split('.')[0];
}

/** The `node` with which the benchmarks were started, to be measured beside the shipped one; undefined when it is that. */
export function presentNode(): string | undefined {
  return process.env[PRESENT_NODE];
}

/** The `node` that the image ships, installed below `bench/.tmp` on demand. Throws where the registry cannot be reached. */
export async function shippedNode(): Promise<string> {
  const folder = new URL(`../.tmp/node-${SHIPPED_VERSION}/`, import.meta.url).pathname;
  const name = `node-${process.platform}-${process.arch}`;
  const binary = `${folder}node_modules/${name}/bin/node`;
  if (await exists(binary)) return binary;
  await mkdir(folder, { recursive: true });
  const install = ['install', '--prefix', folder, '--no-save', '--ignore-scripts'];
  const child = spawn('npm', [...install, `${name}@${SHIPPED_VERSION}`], { stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0 || !(await exists(binary)))
    throw new Error(`${name}@${SHIPPED_VERSION} was not installed`);
  return binary;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
