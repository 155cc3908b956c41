import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir } from 'node:fs/promises';

/** The runtime of the image, as its npm package has it. */
const VERSION = '24.9.0';

/** The `node` that the image ships, installed below `bench/.tmp` on demand. Throws where the registry cannot be reached. */
export async function shippedNode(): Promise<string> {
  const folder = new URL('../.tmp/node-24/', import.meta.url).pathname;
  const name = `node-${process.platform}-${process.arch}`;
  const binary = `${folder}node_modules/${name}/bin/node`;
  if (await exists(binary)) return binary;
  await mkdir(folder, { recursive: true });
  const install = ['install', '--prefix', folder, '--no-save', '--ignore-scripts'];
  const child = spawn('npm', [...install, `${name}@${VERSION}`], { stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0 || !(await exists(binary)))
    throw new Error(`${name}@${VERSION} was not installed`);
  return binary;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
