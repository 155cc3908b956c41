import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { dirname, delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isShippedNode, shippedNode } from '../../bench/servers/runtime.js';
import { cleanUp, startGatewayProgram, temporaryFolder } from '../support/process.js';

/**
 * `npm run test:clients`: stock clients at their newest versions against a gateway with the sandbox, on the Node.js that the
 * image ships. The clients have a package.json of their own in this folder; `npm ci` of the repository does not install them.
 * `npm run test:clients -- langchain` tries the clients whose name contains the word.
 */
const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const LOADER = ['--import', '@swc-node/register/esm-register'];

if (isShippedNode()) await tryClients();
else await runAgainOn(await shippedNode());

async function runAgainOn(node: string): Promise<void> {
  const args = [...LOADER, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const PATH = `${dirname(node)}${delimiter}${process.env.PATH ?? ''}`;
  const child = spawn(node, args, { stdio: 'inherit', env: { ...process.env, PATH } });
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
}

async function tryClients(): Promise<void> {
  const install = spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: FOLDER, stdio: 'inherit' });
  if (install.status !== 0) throw new Error('The clients were not installed.');
  try {
    const gateway = await startGatewayProgram({ DATA_DIR: await temporaryFolder(), SANDBOX: 'on' });
    const { key } = await gateway.account();
    const { PATH, HOME } = process.env;
    const suite = spawn(process.execPath, ['suite.js', ...process.argv.slice(2)], {
      cwd: FOLDER,
      stdio: 'inherit',
      env: { PATH, HOME, BASE_URL: `${gateway.url}/v1`, API_KEY: key },
    });
    const [code] = (await once(suite, 'exit')) as [number | null];
    process.exitCode = code ?? 1;
    await gateway.end('SIGTERM');
  } finally {
    await cleanUp();
  }
}
