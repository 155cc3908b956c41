import { generateKeyPairSync, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { DAY_MS } from '../../src/common/time/spans.js';

const SEQUENCE = 0x30;
const ECDSA_WITH_SHA256 = der(SEQUENCE, Buffer.from('06082a8648ce3d040302', 'hex'));
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex');

/** A self-signed server certificate and its key, PEM; valid for `hosts` (names or IPv4) between the two times. */
export function makeCertificate(
  hosts: readonly string[],
  from = new Date(Date.now() - DAY_MS),
  until = new Date(Date.now() + DAY_MS),
): { cert: string; key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = der(SEQUENCE, der(0x31, der(SEQUENCE, COMMON_NAME, der(0x0c, Buffer.from('test')))));
  const altNames = hosts.map((host) =>
    isIP(host) === 4
      ? der(0x87, Buffer.from(host.split('.').map(Number)))
      : der(0x82, Buffer.from(host)),
  );
  const extension = der(SEQUENCE, SUBJECT_ALT_NAME, der(0x04, der(SEQUENCE, ...altNames)));
  const body = der(
    SEQUENCE,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_WITH_SHA256,
    name,
    der(SEQUENCE, time(from), time(until)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE, extension)),
  );
  const signature = sign('sha256', body, privateKey);
  const whole = der(
    SEQUENCE,
    body,
    ECDSA_WITH_SHA256,
    der(0x03, Buffer.from([0]), signature),
  ).toString('base64');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${whole.replace(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length =
    content.length < 0x80 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function time(date: Date): Buffer {
  return der(0x18, Buffer.from(`${date.toISOString().replace(/\D/g, '').slice(0, 14)}Z`));
}
