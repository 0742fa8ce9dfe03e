// A client of the TypeScript SDK, as it is found by its generation: makes the calls that it is given, prints what came of each.
//
//     node calls.mjs v1|v2-legacy|v2-auto '{"command": [...], "calls": [{"name": ..., "arguments": {...}}]}'
//     node calls.mjs v1|v2-legacy|v2-auto '{"url": "...", "headers": {...}, "calls": [...]}'
const [kind, text] = process.argv.slice(2);
const { command, url, headers, calls } = JSON.parse(text);
const about = { name: "interop", version: "1" };
const isFirst = kind === "v1";

async function transport() {
  if (url) {
    const from = isFirst ? "@modelcontextprotocol/sdk/client/streamableHttp.js" : "@modelcontextprotocol/client";
    const { StreamableHTTPClientTransport } = await import(from);
    return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  }
  const from = isFirst ? "@modelcontextprotocol/sdk/client/stdio.js" : "@modelcontextprotocol/client/stdio";
  const { StdioClientTransport } = await import(from);
  const [program, ...args] = command;
  return new StdioClientTransport({ command: program, args, stderr: "ignore" });
}

async function connected() {
  const from = isFirst ? "@modelcontextprotocol/sdk/client/index.js" : "@modelcontextprotocol/client";
  const { Client } = await import(from);
  const mode = kind === "v2-auto" ? "auto" : "legacy";
  const client = isFirst ? new Client(about) : new Client(about, { versionNegotiation: { mode } });
  await client.connect(await transport());
  return client;
}

const client = await connected();
const { tools } = await client.listTools();
const answers = [];
for (const call of calls) {
  const news = [];
  const options = { onprogress: ({ progress, total }) => news.push([progress, total]) };
  try {
    const result = await (isFirst ? client.callTool(call, undefined, options) : client.callTool(call, options));
    answers.push({ content: result.content, isError: result.isError === true, news });
  } catch (error) {
    answers.push({ failed: error.message, news });
  }
}
await client.close();
process.stdout.write(JSON.stringify({ tools, answers }));
