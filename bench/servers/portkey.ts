import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { unusedPort } from './start.js';

const PACKAGE = '@portkey-ai/gateway@1.15.2';
const READY_TIMEOUT_MS = 60_000;

/** The headers that Portkey needs with each request: the protocol of the provider, and its URL. */
export function portkeyHeaders(upstreamUrl: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    authorization: 'Bearer bench',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': upstreamUrl,
  };
}

/** Portkey's gateway, installed below `bench/.tmp` on demand; undefined where the registry cannot be reached. */
export async function startPortkey(): Promise<
  { readonly port: number; stop(): Promise<void> } | undefined
> {
  const folder = new URL('../.tmp/portkey/', import.meta.url).pathname;
  await mkdir(folder, { recursive: true });
  const install = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', PACKAGE];
  const [code] = (await once(spawn('npm', install, { stdio: 'ignore' }), 'exit')) as [number];
  if (code !== 0) return undefined;
  const port = await unusedPort();
  const file = `${folder}node_modules/@portkey-ai/gateway/build/start-server.js`;
  const child = spawn(process.execPath, [file, `--port=${port}`, '--headless'], {
    stdio: 'ignore',
    // Otherwise it refuses private hosts.
    env: { ...process.env, TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' },
  });
  const startedAt = performance.now();
  while (!(await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined))) {
    if (performance.now() - startedAt > READY_TIMEOUT_MS) throw new Error('portkey did not start');
    await sleep(50);
  }
  return {
    port,
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
