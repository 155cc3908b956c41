import { wantsMessagesModels } from '../auth/sent-key.js';
import { apiFamilyOf } from '../catalog/operations.js';
import type { ApiFamily, RequestHead } from '../common/errors/api-family.js';

/** The API family of a request, by its path; the list of models may be asked for in the form of Messages (G-17). */
export function familyOfRequest({ url = '', originalUrl = url, headers }: RequestHead): ApiFamily {
  const [path = ''] = originalUrl.split('?', 1);
  return wantsMessagesModels({ path, headers }) ? 'messages' : apiFamilyOf(path);
}
