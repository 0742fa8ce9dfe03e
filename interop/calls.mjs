// A client of the TypeScript SDK, as it is found by its generation: makes the calls that it is given, prints what came of each.
//
//     node calls.mjs v1|v2-legacy|v2-auto '{"command": [...], "calls": [{"name": ..., "arguments": {...}}]}'
const [kind, text] = process.argv.slice(2);
const { command, calls } = JSON.parse(text);
const [program, ...args] = command;
const about = { name: "interop", version: "1" };

async function connected() {
  if (kind === "v1") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    const client = new Client(about);
    await client.connect(new StdioClientTransport({ command: program, args, stderr: "ignore" }));
    return client;
  }
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const mode = kind === "v2-auto" ? "auto" : "legacy";
  const client = new Client(about, { versionNegotiation: { mode } });
  await client.connect(new StdioClientTransport({ command: program, args, stderr: "ignore" }));
  return client;
}

const client = await connected();
const { tools } = await client.listTools();
const answers = [];
for (const call of calls) {
  try {
    const { content, isError } = await client.callTool(call);
    answers.push({ content, isError: isError === true });
  } catch (error) {
    answers.push({ failed: error.message });
  }
}
await client.close();
process.stdout.write(JSON.stringify({ tools, answers }));
