package policy

import (
	"maps"
	"slices"
	"strings"
)

// cmdletRow says what a cmdlet does with its parameters. params are Name:role in any order; the roles are
//
//	r read   w write   d remove   m move away (read and remove)   b read and write
//	v a value that is no file   s a switch   R the switch that makes it reach what is below
//	c a value that chooses among what is found   x a text of PowerShell   n a name below the first path
//
// operands are the parameters that take words without a name, in order; more words have the role of the last one.
// Naming too many files is the safe side: the table serves rules that restrain, dangerous paths and fixed
// constraints.
type cmdletRow struct {
	names    string // canonical name first, in its usual spelling
	params   string
	operands string
	pipe     string // the parameter that takes what comes through the pipe, or ""
}

// onePath are the parameters of the cmdlets that take paths through -Path and -LiteralPath.
const (
	readPath   = "Path:r LiteralPath:r PSPath:r FullName:r Filter:c Include:c Exclude:c Recurse:R Force:s "
	writePath  = "Path:w LiteralPath:w PSPath:w Filter:c Include:c Exclude:c Force:s Credential:v Stream:v "
	removePath = "Path:d LiteralPath:d PSPath:d Filter:c Include:c Exclude:c Recurse:R Force:s Credential:v Stream:v "
	webParams  = "Uri:v OutFile:w InFile:r Method:v Headers:v Body:v ContentType:v UserAgent:v SessionVariable:v WebSession:v " +
		"TimeoutSec:v Proxy:v Form:v Certificate:v Credential:v Token:v UseBasicParsing:s UseDefaultCredentials:s Resume:s"
)

var cmdletTable = []cmdletRow{
	{"Get-Content", readPath + "TotalCount:v Tail:v ReadCount:v Encoding:v Delimiter:v Stream:v Raw:s Wait:s AsByteStream:s", "Path", "Path"},
	{"Get-ChildItem", readPath + "Depth:v Name:s File:s Directory:s Hidden:s ReadOnly:s System:s Attributes:v FollowSymlink:s", "Path Filter", "Path"},
	{"Get-Item", readPath + "Stream:v", "Path", "Path"},
	{"Get-ItemProperty Get-ItemPropertyValue", readPath + "Name:v", "Path Name", "Path"},
	{"Get-Acl", readPath, "Path", "Path"},
	{"Get-FileHash", readPath + "Algorithm:v InputStream:v", "Path", "Path"},
	{"Get-AuthenticodeSignature", readPath + "FilePath:r Content:v", "FilePath", "FilePath"},
	{"Test-Path", readPath + "PathType:v IsValid:s NewerThan:v OlderThan:v", "Path", "Path"},
	{"Resolve-Path Convert-Path", readPath + "Relative:s", "Path", "Path"},
	{"Select-String", readPath + "Pattern:v Context:v Encoding:v Culture:v SimpleMatch:s CaseSensitive:s Quiet:s List:s NotMatch:s AllMatches:s Raw:s",
		"Pattern Path", "Path"},
	{"Import-Csv", readPath + "Delimiter:v Header:v Encoding:v UseCulture:s", "Path Delimiter", "Path"},
	{"Import-Clixml", readPath + "First:v Skip:v IncludeTotalCount:s", "Path", "Path"},
	{"Import-PowerShellDataFile", readPath, "Path", "Path"},
	{"Import-LocalizedData", "BindingVariable:v UICulture:v BaseDirectory:r FileName:r", "BindingVariable UICulture", ""},
	{"Format-Hex", readPath + "Encoding:v Count:v Offset:v InputObject:v", "Path", "Path"},
	{"Get-PfxCertificate", readPath + "FilePath:r", "FilePath", "FilePath"},
	{"Select-Xml", readPath + "XPath:v Namespace:v Content:v Xml:v", "XPath Path", "Path"},
	{"Get-WinEvent", "Path:r LogName:v FilterHashtable:v FilterXPath:v MaxEvents:v Oldest:s", "LogName", "Path"},
	{"Invoke-Item", readPath, "Path", "Path"},
	{"Import-Module", "Name:r FullyQualifiedName:r Assembly:v Prefix:v Function:v Cmdlet:v Variable:v Alias:v Force:s PassThru:s Global:s", "Name", "Name"},
	{"Add-Type", "TypeDefinition:v MemberDefinition:v Path:r LiteralPath:r OutputAssembly:w OutputType:v ReferencedAssemblies:r Namespace:v Name:v AssemblyName:v Language:v",
		"TypeDefinition Name", ""},
	{"Set-Location", "Path:r LiteralPath:r PassThru:s StackName:v", "Path", "Path"},
	{"Push-Location", "Path:r LiteralPath:r PassThru:s StackName:v", "Path", "Path"},
	{"Start-Process", "FilePath:r ArgumentList:v WorkingDirectory:r RedirectStandardInput:r RedirectStandardOutput:w RedirectStandardError:w Verb:v WindowStyle:v " +
		"Wait:s NoNewWindow:s PassThru:s UseNewEnvironment:s LoadUserProfile:s Credential:v Environment:v", "FilePath ArgumentList", ""},
	{"Invoke-Command", "ScriptBlock:v FilePath:r ComputerName:v ArgumentList:v Session:v Credential:v AsJob:s", "ScriptBlock", ""},
	{"Start-Job Start-ThreadJob", "ScriptBlock:v FilePath:r LiteralPath:r InitializationScript:v ArgumentList:v Name:v WorkingDirectory:r", "ScriptBlock InitializationScript", ""},
	{"Invoke-Expression", "Command:x", "Command", "Command"},

	{"Set-Content", writePath + "Value:v Encoding:v PassThru:s NoNewline:s AsByteStream:s", "Path Value", ""},
	{"Add-Content", writePath + "Value:v Encoding:v PassThru:s NoNewline:s AsByteStream:s", "Path Value", ""},
	{"Clear-Content", writePath, "Path", "Path"},
	{"Out-File", writePath + "FilePath:w Encoding:v Width:v InputObject:v Append:s NoClobber:s NoNewline:s", "FilePath Encoding", ""},
	{"Tee-Object", writePath + "FilePath:w Variable:v InputObject:v Append:s Encoding:v", "FilePath", ""},
	{"Export-Csv", writePath + "InputObject:v Delimiter:v Encoding:v Append:s NoClobber:s NoTypeInformation:s UseQuotes:v", "Path Delimiter", ""},
	{"Export-Clixml", writePath + "InputObject:v Depth:v Encoding:v NoClobber:s", "Path", ""},
	{"Export-Alias", writePath + "Name:v As:v Append:s Description:v Scope:v", "Path Name", ""},
	{"Import-Alias", readPath + "Scope:v PassThru:s", "Path", "Path"},
	{"Export-PfxCertificate Export-Certificate", "Cert:v FilePath:w Password:v Type:v Force:s NoClobber:s", "FilePath", ""},
	{"Start-Transcript", writePath + "OutputDirectory:w Append:s NoClobber:s IncludeInvocationHeader:s", "Path", ""},
	{"Set-Item", writePath + "Value:v PassThru:s", "Path Value", "Path"},
	{"Set-ItemProperty New-ItemProperty", writePath + "Name:v Value:v InputObject:v PropertyType:v PassThru:s", "Path Name Value", "Path"},
	{"Remove-ItemProperty Clear-ItemProperty", writePath + "Name:v", "Path Name", "Path"},
	{"Set-Acl", writePath + "AclObject:v Passthru:s", "Path AclObject", "Path"},
	{"Unblock-File", writePath, "Path", "Path"},
	{"New-Item", writePath + "Name:n ItemType:v Type:v Value:b Target:b", "Path", ""},
	{"New-TemporaryFile", "", "", ""},
	{"mkdir", writePath + "Name:n", "Path", ""},
	{"Rename-Item", "Path:m LiteralPath:m PSPath:m NewName:n Force:s PassThru:s Credential:v", "Path NewName", "Path"},
	{"Move-Item", "Path:m LiteralPath:m PSPath:m Destination:w Filter:c Include:c Exclude:c Force:s PassThru:s Credential:v", "Path Destination", "Path"},
	{"Copy-Item", "Path:r LiteralPath:r PSPath:r Destination:w Container:s Filter:c Include:c Exclude:c Recurse:R Force:s PassThru:s Credential:v FromSession:v ToSession:v",
		"Path Destination", "Path"},
	{"Remove-Item", removePath, "Path", "Path"},
	{"Clear-Item", removePath, "Path", "Path"},
	{"Clear-RecycleBin", "DriveLetter:v Force:s", "DriveLetter", ""},
	{"Expand-Archive", "Path:r LiteralPath:r DestinationPath:w Force:s PassThru:s", "Path DestinationPath", "Path"},
	{"Compress-Archive", "Path:r LiteralPath:r DestinationPath:w CompressionLevel:v Update:s Force:s PassThru:s", "Path DestinationPath", "Path"},
	{"Invoke-WebRequest", webParams, "Uri", ""},
	{"Invoke-RestMethod", webParams, "Uri", ""},
	{"Start-BitsTransfer", "Source:r Destination:w TransferType:v DisplayName:v Description:v Priority:v Asynchronous:s Credential:v", "Source Destination", ""},
	{"Save-Module Save-Script", writePath + "Name:v RequiredVersion:v Repository:v", "Name", ""},
	{"New-PSDrive", "Name:v PSProvider:v Root:b Description:v Scope:v Persist:s Credential:v", "Name PSProvider Root", ""},
	{"New-Object", "TypeName:v ArgumentList:b ComObject:v Property:v Strict:s", "TypeName ArgumentList", ""},
	{"Mount-DiskImage", "ImagePath:r StorageType:v", "ImagePath", ""},
	{"Send-MailMessage", "Attachments:r Body:v To:v From:v Subject:v SmtpServer:v", "To", ""},
	{"Register-ScheduledTask", "Xml:v TaskName:v Action:v", "TaskName", ""},
	{"switch", "File:r Wildcard:s Regex:s Exact:s CaseSensitive:s", "", ""},
	{"Write-Output", "InputObject:v NoEnumerate:s", "InputObject", ""},
	{"Write-Host", "Object:v NoNewline:s Separator:v ForegroundColor:v BackgroundColor:v", "Object", ""},
}

// commonParams belong to every cmdlet, with their short names.
const commonParams = "ErrorAction:v ea:v WarningAction:v wa:v InformationAction:v infa:v ProgressAction:v proga:v ErrorVariable:v ev:v " +
	"WarningVariable:v wv:v InformationVariable:v iv:v OutVariable:v ov:v OutBuffer:v ob:v PipelineVariable:v pv:v " +
	"Verbose:s vb:s Debug:s db:s WhatIf:s wi:s Confirm:s cf:s UseTransaction:s"

type cmdletParam struct {
	name  string
	lower string
	role  byte
}

// cmdlet is a row that is ready to use.
type cmdlet struct {
	name     string // as usually spelled
	params   []cmdletParam
	operands []cmdletParam
	pipe     byte // role of what comes through the pipe, or 0
	reaches  bool // has a switch that makes it reach what is below
}

var (
	cmdlets       = map[string]*cmdlet{} // by name in lower case
	commonCmdlets = splitParams(commonParams)
)

func splitParams(list string) []cmdletParam {
	var out []cmdletParam
	for item := range strings.FieldsSeq(list) {
		name, role, _ := strings.Cut(item, ":")
		out = append(out, cmdletParam{name, strings.ToLower(name), role[0]})
	}
	return out
}

func init() { // the table is written by kind; this only spreads it by name
	for _, row := range cmdletTable {
		params := splitParams(row.params)
		for name := range strings.FieldsSeq(row.names) {
			c := &cmdlet{name: name, params: params}
			for operand := range strings.FieldsSeq(row.operands) {
				for _, p := range params {
					if p.name == operand {
						c.operands = append(c.operands, p)
					}
				}
			}
			for _, p := range params {
				if p.name == row.pipe {
					c.pipe = p.role
				}
				c.reaches = c.reaches || p.role == 'R'
			}
			cmdlets[strings.ToLower(name)] = c
		}
	}
}

// cmdletAliases are the other names of a cmdlet, in lower case. Whoever wrote a rule may have used any of them.
var cmdletAliases = map[string]string{
	"rm": "remove-item", "del": "remove-item", "erase": "remove-item", "rd": "remove-item", "ri": "remove-item",
	"rmdir": "remove-item", "cp": "copy-item", "copy": "copy-item", "cpi": "copy-item", "mv": "move-item",
	"move": "move-item", "mi": "move-item", "cat": "get-content", "gc": "get-content", "type": "get-content",
	"ls": "get-childitem", "dir": "get-childitem", "gci": "get-childitem", "gi": "get-item", "gp": "get-itemproperty",
	"gpv": "get-itempropertyvalue", "iex": "invoke-expression", "icm": "invoke-command", "iwr": "invoke-webrequest",
	"curl": "invoke-webrequest", "wget": "invoke-webrequest", "irm": "invoke-restmethod", "saps": "start-process",
	"start": "start-process", "kill": "stop-process", "spps": "stop-process", "sc": "set-content", "ac": "add-content",
	"clc": "clear-content", "cli": "clear-item", "ni": "new-item", "md": "mkdir", "ren": "rename-item", "rni": "rename-item",
	"cd": "set-location", "chdir": "set-location", "sl": "set-location", "pushd": "push-location", "popd": "pop-location",
	"echo": "write-output", "write": "write-output", "ii": "invoke-item", "sal": "set-alias", "nal": "new-alias",
	"sv": "set-variable", "set": "set-variable", "nv": "new-variable", "ipmo": "import-module", "ipcsv": "import-csv",
	"epcsv": "export-csv", "ipal": "import-alias", "epal": "export-alias", "tee": "tee-object", "sls": "select-string",
	"sp": "set-itemproperty", "si": "set-item", "rp": "remove-itemproperty", "clp": "clear-itemproperty",
	"rvpa": "resolve-path", "cvpa": "convert-path", "fhx": "format-hex", "sajb": "start-job", "ndr": "new-psdrive",
	"mount": "new-psdrive", "foreach": "foreach-object", "%": "foreach-object", "where": "where-object",
	"?": "where-object", "ihy": "invoke-history", "r": "invoke-history", "h": "get-history", "ps": "get-process",
	"gps": "get-process", "sasv": "start-service", "spsv": "stop-service", "select": "select-object", "sort": "sort-object",
	"measure": "measure-object", "group": "group-object", "diff": "compare-object", "compare": "compare-object",
	"man": "get-help", "gl": "get-location", "pwd": "get-location", "gcm": "get-command", "gm": "get-member",
	"etsn": "enter-pssession", "nsn": "new-pssession", "trcm": "trace-command", "gwmi": "get-wmiobject",
	"iwmi": "invoke-wmimethod", "icim": "invoke-cimmethod", "rwmi": "remove-wmiobject", "swmi": "set-wmiinstance",
}

// aliasesOf is cmdletAliases the other way round, and cmdAliasesOf that of cmd.
var aliasesOf, cmdAliasesOf = turned(cmdletAliases), turned(cmdAliases)

func turned(aliases map[string]string) map[string][]string {
	out := map[string][]string{}
	for _, alias := range slices.Sorted(maps.Keys(aliases)) {
		out[aliases[alias]] = append(out[aliases[alias]], alias)
	}
	return out
}

// powerShellKeywords start a statement of the language, so no allow rule covers what follows them.
var powerShellKeywords = set("if else elseif for while until do switch function filter workflow configuration param begin process end " +
	"dynamicparam clean try catch finally trap class enum using return throw exit break continue in data parallel sequence " +
	"inlinescript from define var")

// powerShellRestarts are the keywords behind which a pipeline follows.
var powerShellRestarts = set("return throw exit in")

// powerShellRunners run code in another form than a command of their own, or change what names mean.
var powerShellRunners = set("invoke-expression invoke-command start-process invoke-item set-alias new-alias import-alias set-variable " +
	"new-variable import-module add-type start-job start-threadjob invoke-history foreach-object where-object new-psdrive " +
	"new-object invoke-wmimethod invoke-cimmethod trace-command enter-pssession new-pssession register-scheduledtask " +
	"register-objectevent register-engineevent set-psbreakpoint invoke-webrequest-script update-typedata update-formatdata " +
	"import-pssession invoke-pester debug-job measure-command set-item new-service set-service install-module install-script " +
	"install-package start-service powershell_ise wsl runas gsudo sudo wmic forfiles mshta rundll32 regsvr32 cscript wscript " +
	"installutil msbuild pcalua schtasks at start-bitstransfer")

// homeVariables are the variables that stand for a known directory, by name in lower case: ~ is the home directory.
// They count for rules that restrain; a text that uses one is opaque for allow rules.
var homeVariables = map[string]string{
	"home": "~", "env:userprofile": "~", "env:home": "~", "env:appdata": `~\AppData\Roaming`,
	"env:localappdata": `~\AppData\Local`, "env:temp": `~\AppData\Local\Temp`, "env:tmp": `~\AppData\Local\Temp`,
	"env:onedrive": `~\OneDrive`, "profile": `~\Documents\PowerShell\Microsoft.PowerShell_profile.ps1`,
	"env:systemroot": `C:\Windows`, "env:windir": `C:\Windows`, "env:systemdrive": "C:", "env:homedrive": "C:",
	"env:programfiles": `C:\Program Files`, "env:programfiles(x86)": `C:\Program Files (x86)`,
	"env:programw6432": `C:\Program Files`, "env:commonprogramfiles": `C:\Program Files\Common Files`,
	"env:programdata": `C:\ProgramData`, "env:allusersprofile": `C:\ProgramData`, "env:public": `C:\Users\Public`,
	"env:comspec": `C:\Windows\System32\cmd.exe`,
}

// providers are drives of PowerShell that hold no files.
var providers = set("env variable function alias hklm hkcu cert wsman registry certificate environment")
