import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';

/** Two processes of a small server beside this file, on one port: clustered.ts PORT FILE ARGUMENTS… */
const WORKERS = 2;
const [port = '', file = '', ...rest] = process.argv.slice(2);
cluster.setupPrimary({
  exec: fileURLToPath(new URL(file, import.meta.url)),
  args: [port, ...rest],
  execArgv: process.execArgv,
});
let ready = 0;
cluster.on('message', () => {
  ready += 1;
  if (ready === WORKERS) process.send?.('ready');
});
for (let index = 0; index < WORKERS; index += 1) cluster.fork();
