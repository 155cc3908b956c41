import { startFauxqs } from 'fauxqs';

const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };

/** A server that speaks S3, with one bucket; everything lies in memory. */
export interface S3Server {
  readonly endpoint: string;
  readonly bucket: string;
  stop(): Promise<void>;
}

/** Starts one and puts credentials into the environment, where the AWS client looks for them. */
export async function startS3Server(): Promise<S3Server> {
  const server = await startFauxqs({ port: 0, logger: false, host: '127.0.0.1' });
  const bucket = 'media';
  server.createBucket(bucket);
  Object.assign(process.env, CREDENTIALS);
  return {
    endpoint: `http://127.0.0.1:${server.port}`,
    bucket,
    stop: () => server.stop(),
  };
}
