import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { freshFolder } from '../../test/support/test-ledger.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { inPieces } from './command-answers.js';
import { askRunningGateway } from './operator-client.js';
import type { OperatorRequest } from './operator-request.js';
import { OperatorSocket, operatorSocketPath } from './operator-socket.js';

type Services = Parameters<typeof OperatorSocket.listen>[1];

const ACTIONS: OperatorRequest = { name: 'actions', words: [], options: {}, actor: 'cli:tester' };
const PATIENCE_MS = 50;
const KEY = 'a-key';
const CREDITED: OperatorRequest = {
  ...ACTIONS,
  name: 'account:credit',
  words: [`acct_${'0'.repeat(32)}`, '5000000'],
  options: { 'idempotency-key': KEY },
};
const NOTHING = { answer: { object: 'list', data: [], has_more: false, next_cursor: null } };

const PIECE = 'ä,b\r\n'.repeat(20_000);
const PIECES = 200;
const LEDGER: OperatorRequest = { ...ACTIONS, name: 'ledger', options: { csv: true } };

/** Pieces that were read from the ledger, and what of them was printed. */
let made: number;
let printed: string[];
const print = (piece: string) => Promise.resolve(void printed.push(piece));

let path: string;
let isOpen: Promise<void>;
let open: () => void;
const sockets: (OperatorSocket | undefined)[] = [];

beforeEach(() => {
  path = join(freshFolder(), 'operator.sock');
  isOpen = Promise.resolve();
  [made, printed] = [0, []];
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket?.close();
  await rm(path, { force: true });
});

async function* pieces(): AsyncGenerator<string> {
  for (made = 0; made < PIECES; made += 1) yield await Promise.resolve(PIECE);
}

/** Services whose list of actions is empty, and comes once the gate is open. Their ledger cannot be reached. */
const services = {
  ledger: { answer: () => Promise.resolve(inPieces(pieces())) },
  actions: {
    list: () => isOpen.then(() => ({ items: [], nextCursor: null })),
    perform: (_action: object, work: () => Promise<unknown>) => isOpen.then(work),
  },
  operator: {
    accountIdOf: (id: string) => Promise.resolve(id),
    credit: () => Promise.reject(new GatewayError('service_unavailable', 'No ledger.')),
  },
} as unknown as Services;

async function listen(): Promise<OperatorSocket | undefined> {
  const socket = await OperatorSocket.listen(path, services);
  sockets.push(socket);
  return socket;
}

/** What comes back for these bytes, after the greeting. */
async function sent(bytes: string): Promise<string> {
  const socket = connect(path);
  socket.on('error', () => undefined);
  socket.end(bytes);
  return text(socket).then(
    (reply) => reply.trim(),
    () => '',
  );
}

describe('the socket for operators', () => {
  it('runs commands, and says how they are used where there is none such', async () => {
    await listen();
    expect(await askRunningGateway(path, ACTIONS, print)).toEqual(NOTHING);
    const unknown = await askRunningGateway(path, { ...ACTIONS, name: 'toString' }, print);
    expect(unknown).toEqual({ usage: expect.stringContaining('\n  account:create ') });
    const misused = await askRunningGateway(path, { ...ACTIONS, words: ['x'] }, print);
    expect(misused).toEqual({ usage: expect.stringMatching(/^actions does not take "x"\./) });
    const wrong = await askRunningGateway(path, { ...ACTIONS, options: { limit: 'x' } }, print);
    expect(wrong).toEqual({ error: expect.stringContaining('limit') });
  });

  it('can be opened by its own user only', async () => {
    await listen();
    const { mode } = await stat(path);
    expect([(mode & 0o777).toString(8), (await stat(path)).isSocket()]).toEqual(['600', true]);
  });

  it('belongs to the first process of a gateway, and to the next one after a kill', async () => {
    expect(await askRunningGateway(path, ACTIONS, print)).toBeUndefined();
    // Nobody listens behind a file that a killed gateway left.
    await writeFile(path, '');
    expect(await askRunningGateway(path, ACTIONS, print)).toBeUndefined();
    const first = await listen();
    assert(first);
    expect(await listen()).toBeUndefined();
    expect(await askRunningGateway(path, ACTIONS, print)).toEqual(NOTHING);
    first.close();
    expect(await listen()).toBeDefined();
    expect(await askRunningGateway(path, ACTIONS, print)).toEqual(NOTHING);
  });

  it('is not there where the folder takes none', async () => {
    const nowhere = join(freshFolder(), 'no', 'such', 'folder');
    expect(await OperatorSocket.listen(nowhere, services)).toBeUndefined();
    const dataDir = `/${'x'.repeat(90)}`;
    expect(operatorSocketPath({ dataDir, databaseUrl: undefined })).toBeUndefined();
  });

  it('has another path for another database', () => {
    const paths = [undefined, 'postgresql://a/b', 'postgresql://a/c'].map((databaseUrl) =>
      operatorSocketPath({ dataDir: './data', databaseUrl }),
    );
    expect(new Set(paths).size).toBe(3);
  });

  it.each([
    ['no JSON', 'actions'],
    ['no object', '[]'],
    ['a word that is no text', JSON.stringify({ ...ACTIONS, words: [1] })],
    ['an option that is no text', JSON.stringify({ ...ACTIONS, options: { limit: {} } })],
    ['too much', JSON.stringify({ ...ACTIONS, name: 'x'.repeat(1_100_000) })],
    ['nothing', ''],
  ])('answers nothing to %s, and goes on', async (_title, bytes) => {
    await listen();
    expect(await sent(bytes)).toBe('');
    expect(await askRunningGateway(path, ACTIONS, print)).toEqual(NOTHING);
  });

  it('is sent nothing before it greets: a command that was given up is not done later', async () => {
    const hanging = createServer({ allowHalfOpen: true }).listen(path);
    await once(hanging, 'listening');
    const accepted = once(hanging, 'connection');
    const reply = askRunningGateway(path, ACTIONS, print);
    const [socket] = (await accepted) as [Socket];
    const received = text(socket);
    socket.end();
    expect(await reply).toBeUndefined();
    expect(await received).toBe('');
    expect(await askRunningGateway(path, ACTIONS, print, PATIENCE_MS)).toEqual({
      error: expect.stringContaining('Nothing was done'),
    });
    hanging.close();
  });

  it('answers a command that is under way when it stops, and takes no other', async () => {
    isOpen = new Promise((resolve) => (open = resolve));
    const socket = await listen();
    assert(socket);
    const reply = askRunningGateway(path, ACTIONS, print);
    while (socket.running === 0) await sleep(5);
    socket.stop();
    expect(await askRunningGateway(path, ACTIONS, print)).toBeUndefined();
    open();
    expect(await reply).toEqual(NOTHING);
    expect(socket.running).toBe(0);
  });

  it('tells that a command was not answered when its gateway ends', async () => {
    isOpen = new Promise((resolve) => (open = resolve));
    const socket = await listen();
    assert(socket);
    const reply = askRunningGateway(path, ACTIONS, print);
    while (socket.running === 0) await sleep(5);
    socket.close();
    expect(await reply).toEqual({ error: expect.stringContaining('ended before it answered') });
    open();
  });

  it('tells the key with which a credit that may have been made is run again', async () => {
    const again = `Run again with --idempotency-key ${KEY}, it is done once.`;
    const first = await listen();
    const failed = await askRunningGateway(path, CREDITED, print);
    expect(failed).toEqual({ error: `No ledger. ${again}` });
    first?.close();
    isOpen = new Promise((resolve) => (open = resolve));
    const socket = await listen();
    assert(socket);
    const reply = askRunningGateway(path, CREDITED, print);
    while (socket.running === 0) await sleep(5);
    socket.close();
    expect(await reply).toEqual({ error: expect.stringContaining(again) });
    open();
  });

  it('sends a text of any length in pieces, and reads no further than they are taken', async () => {
    await listen();
    let most = 0;
    const slowly = async (piece: string) => {
      await sleep(1);
      printed.push(piece);
      most = Math.max(most, made - printed.length);
    };
    expect(await askRunningGateway(path, LEDGER, slowly)).toEqual({ printed: true });
    expect(printed.join('') === PIECE.repeat(PIECES)).toBe(true);
    expect(most).toBeLessThan(PIECES / 4);
  });

  it('reads no more of a text whose reader left', async () => {
    const socket = await listen();
    const leave = () => Promise.reject(new Error('enough'));
    await askRunningGateway(path, LEDGER, leave);
    while (socket?.running !== 0) await sleep(5);
    expect(made).toBeLessThan(PIECES);
  });

  it('sends no pieces to a command line of an older version', async () => {
    await listen();
    expect(await sent(JSON.stringify(LEDGER))).toContain('older than the gateway');
  });
});
