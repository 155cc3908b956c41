/** The key that every protocol of the sandbox accepts. Any other key gets 401. */
export const SANDBOX_API_KEY = 'sandbox-key';
