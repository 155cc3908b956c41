import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import axios, { AxiosError, type AxiosInstance } from 'axios';
import { Agent } from 'undici';
import { TOO_LATE } from '../ports/attempt.js';
import { UpstreamResponseHandler } from './upstream-response-handler.js';
import { type ExchangeConfig, undiciAdapter } from './undici-adapter.js';

const agent = new Agent();
afterAll(() => agent.destroy());

const SILENCE_MS = 150;

/** The same tests pass with axios' own adapter, so ours can replace it. */
describe.each([
  ['undici adapter', axios.create({ adapter: undiciAdapter(agent), proxy: false })],
  ["axios' own adapter", axios.create({ adapter: 'http', proxy: false, maxRedirects: 0 })],
])('%s', (name, client: AxiosInstance) => {
  let server: Server;
  let url: string;
  let listener: RequestListener;
  beforeEach(async () => {
    server = createServer((request, response) => {
      listener(request, response);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  const failure = async (call: Promise<unknown>): Promise<AxiosError> => {
    const error: unknown = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(AxiosError);
    return error as AxiosError;
  };

  it('sends method, path, query, headers and JSON, and reads status, headers and JSON', async () => {
    listener = (request, response) => {
      void text(request).then((body) => {
        const { method, url: path, headers } = request;
        const seen = { method, path, type: headers['content-type'], key: headers['x-key'], body };
        response.writeHead(201, 'Made', { 'x-one': '1', 'set-cookie': ['a=1', 'b=2'] });
        response.end(JSON.stringify(seen));
      });
    };
    const config = { baseURL: url, params: { q: 'a b' }, headers: { 'x-key': 'k' } };
    const response = await client.post('/path', { hé: 1 }, config);
    expect(response).toMatchObject({ status: 201, statusText: 'Made' });
    expect(response.headers['x-one']).toBe('1');
    expect(response.headers['set-cookie']).toEqual(['a=1', 'b=2']);
    expect(response.data).toEqual({
      method: 'POST',
      path: '/path?q=a+b',
      type: 'application/json',
      key: 'k',
      body: '{"hé":1}',
    });
  });

  it('streams a request body and the answer', async () => {
    listener = (request, response) => request.pipe(response);
    const body = Readable.from([Buffer.from('one '), Buffer.from('two')], { objectMode: false });
    const response = await client.post<Readable>(url, body, { responseType: 'stream' });
    expect(await text(response.data)).toBe('one two');
  });

  it('reads an answer as bytes', async () => {
    listener = (_request, response) => response.end(Buffer.from([0, 255, 1]));
    const response = await client.get<Buffer>(url, { responseType: 'arraybuffer' });
    expect([...response.data]).toEqual([0, 255, 1]);
  });

  it.each([
    [404, AxiosError.ERR_BAD_REQUEST],
    [503, AxiosError.ERR_BAD_RESPONSE],
  ])('rejects status %d as %s and keeps the answer', async (status, code) => {
    listener = (_request, response) => response.writeHead(status).end('{"why":1}');
    const error = await failure(client.get(url));
    expect(error).toMatchObject({ code, response: { status, data: { why: 1 } } });
    expect(error.message).toBe(`Request failed with status code ${status}`);
  });

  it('does not follow redirects', async () => {
    listener = (_request, response) => response.writeHead(302, { location: '/other' }).end();
    expect((await client.get(url, { validateStatus: null })).status).toBe(302);
  });

  it('passes over informational answers', async () => {
    listener = (_request, response) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' });
      response.end('final');
    };
    expect((await client.get(url)).data).toBe('final');
  });

  it('rejects an answer larger than maxContentLength', async () => {
    listener = (_request, response) => response.end('x'.repeat(1000));
    await failure(client.get(url, { maxContentLength: 999 }));
  });

  it('gives up on a silent server after the timeout', async () => {
    listener = () => undefined;
    const error = await failure(client.get(url, { timeout: SILENCE_MS }));
    expect(error.code).toBe(AxiosError.ECONNABORTED);
  });

  it('reports a refused connection', async () => {
    const { port } = server.address() as AddressInfo;
    server.close();
    const error = await failure(client.get(`http://127.0.0.1:${port}`));
    expect(error.code).toBe('ECONNREFUSED');
    if (name === 'undici adapter')
      expect((error.request as UpstreamResponseHandler).sent).toBe(false);
  });

  it('reports a reset connection', async () => {
    listener = (_request, response) => response.destroy();
    const error = await failure(client.get(url));
    if (name === 'undici adapter')
      expect((error.request as UpstreamResponseHandler).sent).toBe(true);
  });

  it('closes the connection when aborted before the head', async () => {
    const controller = new AbortController();
    const closed = new Promise((resolve) => {
      listener = (_request, response) => {
        response.on('close', resolve);
        controller.abort();
      };
    });
    const call = client.get(url, { signal: controller.signal });
    await expect(call).rejects.toMatchObject({ code: AxiosError.ERR_CANCELED });
    await closed;
  });

  it('never connects when aborted beforehand', async () => {
    listener = () => {
      throw new Error('reached');
    };
    const call = client.get(url, { signal: AbortSignal.abort() });
    await expect(call).rejects.toMatchObject({ code: AxiosError.ERR_CANCELED });
  });

  it('breaks the body and closes the connection when aborted inside the body', async () => {
    const controller = new AbortController();
    let closed: Promise<unknown> | undefined;
    listener = (_request, response) => {
      closed = once(response, 'close');
      response.write('half');
    };
    const config = { responseType: 'stream', signal: controller.signal } as const;
    const { data } = await client.get<Readable>(url, config);
    setTimeout(() => {
      controller.abort();
    }, 10);
    await expect(text(data)).rejects.toThrow();
    await closed;
  });

  it('breaks the body when the server does', async () => {
    listener = (_request, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('half');
      setTimeout(() => response.destroy(), 20);
    };
    const { data } = await client.get<Readable>(url, { responseType: 'stream' });
    await expect(text(data)).rejects.toThrow();
  });

  it('closes the connection when the body is destroyed', async () => {
    let closed: Promise<unknown> | undefined;
    listener = (_request, response) => {
      closed = once(response, 'close');
      response.write('half');
    };
    const { data } = await client.get<Readable>(url, { responseType: 'stream' });
    data.on('error', () => undefined).destroy();
    await closed;
  });

  it('pauses the server while the reader waits', async () => {
    let written = 0;
    listener = (_request, response) => {
      const block = Buffer.alloc(64 * 1024);
      const write = (): void => {
        while (written < 64 * 1024 * 1024) {
          written += block.length;
          if (!response.write(block)) return void response.once('drain', write);
        }
        response.end();
      };
      write();
    };
    const { data } = await client.get<Readable>(url, { responseType: 'stream' });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(written).toBeLessThan(32 * 1024 * 1024);
    data.on('error', () => undefined).destroy();
  });
});

describe('undici adapter timeouts inside the body', () => {
  it('breaks a body that falls silent, and passes the error through bodyError', async () => {
    const server = createServer((_request, response) => response.writeHead(200).write('half'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const client = axios.create({ adapter: undiciAdapter(agent), responseType: 'stream' });
    const config: ExchangeConfig = {
      idleTimeoutMs: SILENCE_MS,
      bodyError: (error: Error) => new Error('translated', { cause: error }),
    };
    const { port } = server.address() as AddressInfo;
    const { data } = await client.get<Readable>(`http://127.0.0.1:${port}`, config);
    await expect(text(data)).rejects.toThrow('translated');
    server.close();
  });
});

describe('undici adapter and an owner that may not send any more', () => {
  it('asks the owner when the connection is there, and sends no byte', async () => {
    let received = 0;
    const server = createTcpServer((socket) => {
      socket.on('data', ({ length }) => (received += length)).on('error', () => undefined);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const connected = once(server, 'connection');
    const client = axios.create({ adapter: undiciAdapter(agent), responseType: 'stream' });
    const { port } = server.address() as AddressInfo;
    const config: ExchangeConfig = { maySend: () => false };
    const call = client.post(`http://127.0.0.1:${port}`, { a: 1 }, config);
    const error = await call.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: TOO_LATE, request: { sent: false } });
    const [socket] = (await connected) as [Socket];
    if (!socket.closed) await once(socket, 'close');
    expect(received).toBe(0);
    server.close();
  });
});

describe('undici adapter and a server that closes after its answer', () => {
  const SIZE = 65_536;
  const UNREAD_MS = 50;

  it.each([
    ['says so', `HTTP/1.1 200 OK\r\nContent-Length: ${SIZE}\r\nConnection: close\r\n\r\n`],
    ['ends the body that way', 'HTTP/1.1 200 OK\r\n\r\n'],
  ])('keeps the body for a reader that lags when the server %s', async (_, head) => {
    const server = createTcpServer((socket) => {
      socket.once('data', () => {
        socket.write(head);
        socket.end(Buffer.alloc(SIZE));
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const client = axios.create({ adapter: undiciAdapter(agent), responseType: 'stream' });
    const { port } = server.address() as AddressInfo;
    const { data } = await client.get<Readable>(`http://127.0.0.1:${port}`);
    await new Promise((resolve) => setTimeout(resolve, UNREAD_MS));
    expect((await buffer(data)).length).toBe(SIZE);
    server.close();
  });
});
