// The function through which orval's client calls: it adds the address and the key, and reads each body by its type.
let base = { url: '', key: '' };

export function configure(url: string, key: string): void {
  base = { url, key };
}

export async function orvalFetch<T>(path: string, init: RequestInit): Promise<T> {
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${base.key}`);
  const answer = await fetch(new URL(path, base.url), { ...init, headers });
  const type = answer.headers.get('content-type') ?? '';
  const data: unknown = type.startsWith('application/json')
    ? await answer.json()
    : type.startsWith('text/event-stream')
      ? await lastEventOf(answer)
      : await answer.blob();
  return { data, status: answer.status, headers: answer.headers } as T;
}

/** This client has no streams: it waits for the events and answers the last one with a choice, with the text of all. */
async function lastEventOf(answer: Response): Promise<unknown> {
  const events = [...(await answer.text()).matchAll(/^data: (\{.*)$/gm)]
    .map(([, event = '']) => JSON.parse(event))
    .filter((event) => 'error' in event || event.choices.length > 0);
  const text = events.map((event) => event.choices?.[0]?.delta.content ?? '').join('');
  const last = events.at(-1);
  if (last.choices) last.choices[0].delta.content = text;
  return last;
}
