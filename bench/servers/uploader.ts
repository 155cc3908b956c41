import { Agent, request } from 'node:http';
import { formWithFile, longFiles } from './long-files.js';

/** Sends uploads of 50 MB to the gateway on the second port with this key, so many at once, until it is killed. */
const [, target = '', key = '', atOnce = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const forms = longFiles().map((file) => formWithFile('aud-transcribe-v2', file));
let answered = 0;
let next = 0;

for (let index = 0; index < Number(atOnce); index++) void uploadOnAndOn();
process.on('SIGTERM', () => {
  process.send?.(answered);
});
process.send?.('ready');

async function uploadOnAndOn(): Promise<never> {
  for (;;) {
    await upload();
    answered += 1;
  }
}

function upload(): Promise<void> {
  const form = forms[next++ % forms.length];
  return new Promise((resolve) => {
    const sent = request(
      {
        port: Number(target),
        path: '/v1/audio/transcriptions',
        method: 'POST',
        agent,
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': form?.contentType,
          'content-length': form?.body.length,
        },
      },
      (answer) => {
        answer.resume().once('close', resolve);
      },
    );
    // A refusal closes the connection while the body is sent.
    sent.on('error', () => undefined).once('close', resolve);
    sent.end(form?.body);
  });
}
