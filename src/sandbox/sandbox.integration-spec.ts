import { describe, expect, it } from '@jest/globals';
import { publishMedia, startSandbox } from './sandbox.js';

describe('startSandbox', () => {
  it('serves every protocol below one port and tells what it has seen', async () => {
    const sandbox = await startSandbox();
    try {
      const answer = await fetch(`${sandbox.url}/openai/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${sandbox.apiKey}` },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] }),
      });
      expect(answer.status).toBe(200);
      expect(await answer.json()).toHaveProperty('usage');
      expect(await sandbox.stats()).toEqual({ requests: { chat_completions: 1 }, inFlight: 0 });
      expect(await sandbox.requests()).toMatchObject([{ operation: 'chat_completions' }]);
      expect(await sandbox.chats()).toMatchObject([{ prompt: 'Hello', isComplete: true }]);
      for (const path of [
        '/elevenlabs/v1/voices',
        '/openai/v1/models',
        '/video/v1/videos/x',
        '/ttapi/suno/x',
      ]) {
        expect((await fetch(sandbox.url + path)).status).toBe(401);
      }
    } finally {
      await sandbox.close();
    }
  });

  it('keeps files and tells their URLs, its own until it is told where they are published', async () => {
    const sandbox = await startSandbox();
    try {
      const file = Buffer.from('some sound');
      const own = await sandbox.putMedia(file, 'audio/wav', 'wav');
      expect(own.startsWith(`${sandbox.mediaUrl}/`)).toBe(true);
      expect(await (await fetch(own)).text()).toBe('some sound');
      await publishMedia(sandbox, 'https://shim.example/sandbox/media');
      const published = await sandbox.putMedia(file, 'audio/wav', 'wav');
      expect(published).toMatch(/^https:\/\/shim\.example\/sandbox\/media\/\w{32}\.wav$/);
    } finally {
      await sandbox.close();
    }
  });

  it('takes the port it is given and refuses one that is taken', async () => {
    const first = await startSandbox();
    const port = Number(new URL(first.url).port);
    await expect(startSandbox({ port })).rejects.toThrow('EADDRINUSE');
    await first.close();
    const second = await startSandbox({ port });
    expect(second.url).toBe(first.url);
    await second.close();
  });
});
