package command

// PluginTools begins the name by which an agent calls a native command where
// the server is the plugin's: mcp__plugin_PLUGIN_SERVER__TOOL.
const PluginTools = "mcp__plugin_knowledge_knowledge__"
